// What can be set before an informer is started, and what can be asked.

package informer

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
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

// SetWatchErrorHandlerWithContext sets what is called when listing or watching has
// failed, before it is tried again. The default, even for nil, logs the error.
func (i *Informer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.started.Load() {
		return errStarted
	}
	if i.watchErrorHandler = handler; handler == nil {
		i.watchErrorHandler = cache.DefaultWatchErrorHandler
	}
	return nil
}

// SetTransform sets what is called with each object before it is stored. A
// streamed list goes through it twice, so it must be able to take its own results.
func (i *Informer) SetTransform(transform cache.TransformFunc) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.started.Load() {
		return errStarted
	}
	i.transform = transform
	return nil
}

// SetObserver sets the observer, which is called with all that the informer does.
func (i *Informer) SetObserver(o observer.Observer) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.started.Load() {
		return errStarted
	}
	i.observer, i.processor.Observer = o, o
	return nil
}

// SetPatience sets how many notifications a handler can be behind, besides two for
// each object, before it gets the latest state of each object and not each change.
// With math.MaxInt it gets each change, always. The default is 16,384.
func (i *Informer) SetPatience(n int) { i.log.SetPatience(n) }

// AddIndexers adds indexes, even over what is stored already.
func (i *Informer) AddIndexers(indexers cache.Indexers) error {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.stopped {
		return fmt.Errorf("indexer was not added because it has stopped already: make a new informer of %s",
			i.typeName())
	}
	return i.indexer.AddIndexers(indexers)
}

// Run is RunWithContext with a channel.
func (i *Informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

// GetStore returns the store, to read from.
func (i *Informer) GetStore() cache.Store { return i.indexer }

// GetIndexer returns the store with its indexes, to read from.
func (i *Informer) GetIndexer() cache.Indexer { return i.indexer }

// HasSynced is true once the store holds the first list. Whether a handler has
// got it, its registration says.
func (i *Informer) HasSynced() bool { return cache.IsDone(i) }

// HasSyncedChecker is HasSynced as a channel to wait for.
func (i *Informer) HasSyncedChecker() cache.DoneChecker { return i }

// Name implements cache.DoneChecker.
func (i *Informer) Name() string { return "Informer " + i.typeName() }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (i *Informer) Done() <-chan struct{} { return i.synced }

// LastSyncResourceVersion is the version that the watch has come to; empty
// before the first list.
func (i *Informer) LastSyncResourceVersion() string {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.reflector == nil {
		return ""
	}
	return i.reflector.LastSyncResourceVersion()
}

// IsStopped is true once the informer has run and ended. It will not run again.
func (i *Informer) IsStopped() bool {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	return i.stopped
}

// GetController returns something that can be asked, and not run: with a shared informer,
// it is not for one user to decide when it runs.
func (i *Informer) GetController() cache.Controller { return dummyController{i} }

type dummyController struct{ *Informer }

// Run does nothing: the informer's owner runs it.
func (dummyController) Run(<-chan struct{}) {}

// RunWithContext does nothing either.
func (dummyController) RunWithContext(context.Context) {}

func (i *Informer) typeName() string {
	if i.options.ObjectDescription != "" {
		return i.options.ObjectDescription
	}
	return fmt.Sprintf("%T", i.objectType)
}
