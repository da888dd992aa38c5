// The inbox: where events wait for the next tick.

package recorder

import "sync"

// An inbox holds the events that have no record yet. It has a lock of its own, because an observer
// must not wait for anything else.
type inbox struct {
	mu     sync.Mutex
	events []event
	closed bool // nobody takes events out any more, so none is added
}

func (i *inbox) add(e event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.events = append(i.events, e)
	}
}

// takeAll empties the inbox.
func (i *inbox) takeAll() []event {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	return events
}

// close empties the inbox for good.
func (i *inbox) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.events, i.closed = nil, true
}
