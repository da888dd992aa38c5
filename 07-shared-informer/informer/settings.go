// The setters and getters of an informer. Most setters must be called before the start.

package informer

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

var _ cache.SharedIndexInformer = (*Informer)(nil)

var errStarted = errors.New("the informer has started: this has to be set before")

// SetWatchErrorHandler is SetWatchErrorHandlerWithContext without the context.
func (i *Informer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	if handler == nil {
		return i.SetWatchErrorHandlerWithContext(nil)
	}
	return i.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext sets the function that is called when a list or a watch has
// failed, before the reflector tries again. The default, which nil stands for, logs the error.
func (i *Informer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.started.Load() {
		return errStarted
	}
	if handler == nil {
		handler = cache.DefaultWatchErrorHandler
	}
	i.watchErrorHandler = handler
	return nil
}

// SetTransform sets the function that is called with each object before the store gets it. The
// objects of a streamed list go through it twice. So it must accept its own results.
func (i *Informer) SetTransform(transform cache.TransformFunc) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.started.Load() {
		return errStarted
	}
	i.queue.transform = transform
	return nil
}

// SetPatience sets how many notifications a handler can be behind, besides two for each object. A
// handler that is further behind gets the latest state of each object, and not each change. With
// math.MaxInt every handler gets each change. Default: 16,384. Only a journal has patience: with
// channels every handler gets each change, and SetPatience does nothing.
func (i *Informer) SetPatience(n int) {
	if journal, ok := i.fanout.(interface{ SetPatience(n int) }); ok {
		journal.SetPatience(n)
	}
}

// AddIndexers adds indexes. They include the objects that are already in the store.
func (i *Informer) AddIndexers(indexers cache.Indexers) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.stopped {
		return fmt.Errorf("indexer was not added because it has stopped already: make a new informer of %s",
			i.typeName())
	}
	return i.indexer.AddIndexers(indexers)
}

// GetStore returns the store, to read from.
func (i *Informer) GetStore() cache.Store { return i.indexer }

// GetIndexer returns the store with its indexes, to read from.
func (i *Informer) GetIndexer() cache.Indexer { return i.indexer }

// HasSynced is true once the store holds the first list. The registration of a handler reports whether
// the handler has received that list.
func (i *Informer) HasSynced() bool { return cache.IsDone(i) }

// HasSyncedChecker is HasSynced as a channel to wait for.
func (i *Informer) HasSyncedChecker() cache.DoneChecker { return i }

// Name implements cache.DoneChecker.
func (i *Informer) Name() string { return "Informer " + i.typeName() }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (i *Informer) Done() <-chan struct{} { return i.synced }

// LastSyncResourceVersion is the version that the watch has reached. It is empty before the first
// list.
func (i *Informer) LastSyncResourceVersion() string {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.reflector == nil {
		return ""
	}
	return i.reflector.LastSyncResourceVersion()
}

// IsStopped is true once the informer has ended. It will not run again.
func (i *Informer) IsStopped() bool {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	return i.stopped
}
