package processor

// A Fanout brings every notification to every listener, in order. This package
// has two: NewChannels does it as client-go does, NewLog as we would.
type Fanout interface {
	// Distribute hands a notification to all listeners that there are. It does
	// not wait for a handler.
	Distribute(Notification)

	// Listen adds a listener. What comes out of it is all that is distributed from
	// now on. Folded is called with the number of notifications that are saved when
	// several become one, and of those that wait; it must be quick. It may be nil.
	Listen(folded func(saved, waiting int)) Listener
}

// A Listener is where one handler's notifications come out of a Fanout. Next
// is for one goroutine; the others may be called from any.
type Listener interface {
	// Next waits for notifications and returns those that are at hand, in
	// order. The slice is good until the next call. It is nil after Close.
	Next() []Notification

	// Waiting is how many notifications are held for this listener, not
	// counting what Next has returned, nor the end of the initial list.
	Waiting() int

	// Close drops what waits and ends Next. When it returns, the listener holds
	// no memory and no goroutine.
	Close()
}
