// What the informer itself reports to an observer. The reflector, the queue and the processor report
// for themselves.

package informer

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/06-processor/processor"
)

// SetObserver sets the observer of the informer and all its parts. A queue has an observer if it has
// a method SetObserver, as those of chapter 01 have.
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

	// Compared: a list that was popped whole was compared with the store. Missing are the keys of the
	// objects that the list lacks.
	Compared struct {
		Listed  int
		Missing []string
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

// observeCompared reports what a list has done to the store.
func (i *Informer) observeCompared(listed int, gone []indexer.Change) {
	if i.observer == nil {
		return
	}
	var missing []string
	for _, change := range gone {
		missing = append(missing, change.Key)
	}
	i.observer.Observe(Compared{listed, missing})
}

// handleRefused reports that the store has refused what the loop has popped. The reflector does not
// get this error.
func (i *Informer) handleRefused(ctx context.Context, err error) {
	utilruntime.HandleErrorWithContext(ctx, err, "Unable to store a change", "type", i.typeName())
	if i.observer != nil {
		i.observer.Observe(Refused{err})
	}
}
