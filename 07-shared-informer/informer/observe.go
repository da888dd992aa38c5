// What the informer itself reports to an observer. The reflector and the processor report for
// themselves.

package informer

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

// SetObserver sets the observer of the informer and all its parts.
func (i *Informer) SetObserver(o observer.Observer) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.started.Load() {
		return errStarted
	}
	i.observer = o
	return nil
}

// observeStored reports a change that is in the store.
func (i *Informer) observeStored(n *processor.Notification) {
	if i.observer != nil {
		stored := n.Event(observer.Stored)
		stored.Version = i.indexer.LastStoreSyncResourceVersion()
		i.observer.Observe(stored)
	}
}

// handleRefused reports that the store has refused what the loop has popped. The reflector does not
// get this error.
func (i *Informer) handleRefused(ctx context.Context, err error) {
	utilruntime.HandleErrorWithContext(ctx, err, "Unable to store a change", "type", i.typeName())
	if i.observer != nil {
		i.observer.Observe(observer.Event{Kind: observer.LeftOut, Err: err})
	}
}
