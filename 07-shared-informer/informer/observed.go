// What an observer sees of the store.

package informer

import (
	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

// observeStored says what has changed in the store.
func (c changes) observeStored(n *processor.Notification) {
	if c.observer == nil {
		return
	}
	event := n.Event(observer.Stored)
	event.Version = c.store.LastStoreSyncResourceVersion()
	c.observer.Observe(event)
}
