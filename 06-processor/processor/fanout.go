package processor

// A Fanout brings every notification to every listener, in order. NewChannels returns client-go's
// design. Chapter 07 has our design, the journal.
type Fanout interface {
	// Distribute gives a notification to all listeners of this moment. It does not wait for a
	// handler.
	Distribute(Notification)

	// Listen adds a listener. It gets every notification that is distributed from now on. A Fanout
	// with events of its own says in them for which handler it listens. handler may be nil: then events name none.
	Listen(handler *Registration) Listener
}

// A Listener gives the notifications of a Fanout to one handler. Only one goroutine may call Next.
// Any goroutine may call the other methods.
type Listener interface {
	// Next waits for notifications and returns those that are there, in order. The slice is valid
	// until the next call. It is nil after Close.
	Next() []Notification

	// Waiting is the number of notifications that Next has not returned yet. The end of the initial
	// list does not count.
	Waiting() int

	// Close drops the notifications that wait, and ends Next. When it returns, the listener holds
	// no memory and no goroutine.
	Close()
}
