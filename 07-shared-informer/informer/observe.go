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

// The events that an Informer reports to its observer, besides those of its parts.
type (
	// Stored: a change is in the store.
	Stored struct {
		processor.Notification
		Version string // the resource version that the store has reached
	}

	// Refused: the store has refused what the loop has popped.
	Refused struct{ Err error }
)

// observeStored reports a change that is in the store.
func (i *Informer) observeStored(n processor.Notification) {
	if i.observer != nil {
		i.observer.Observe(Stored{n, i.indexer.LastStoreSyncResourceVersion()})
	}
}

// handleRefused reports that the store has refused what the loop has popped. The reflector does not
// get this error.
func (i *Informer) handleRefused(ctx context.Context, err error) {
	utilruntime.HandleErrorWithContext(ctx, err, "Unable to store a change", "type", i.typeName())
	if i.observer != nil {
		i.observer.Observe(Refused{err})
	}
}
