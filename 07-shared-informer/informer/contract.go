// What completes client-go's interface: the handlers' registrations, the
// switches to be set before the start, and what can be asked.

package informer

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/04-indexer/store"
	"example.com/informer/06-processor/processor"
)

var _ cache.SharedIndexInformer = (*Informer)(nil)

// minimumResyncPeriod is client-go's: no handler gets resyncs more often than
// this.
const minimumResyncPeriod = time.Second

var errStarted = errors.New("the informer has started: this has to be set before")

// AddEventHandler is AddEventHandlerWithOptions without options.
func (i *Informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with that option.
func (i *Informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler,
	resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions adds a handler, at any time before the informer has
// stopped. First it gets what the store holds now, as adds. If it panics, that is
// reported to utilruntime's PanicHandlers, with the logger of its options, and a
// second later it is called again, for the next notification.
func (i *Informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case handler == nil:
		return nil, errors.New("the handler is nil: cache.ResourceEventHandlerFuncs{} does nothing")
	case i.stopped:
		return nil, fmt.Errorf(
			"make a new informer of %s: handler %T was not added to shared informer because it has stopped already",
			i.typeName(), handler) // callers look for client-go's words at its end
	}
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	period := i.options.ResyncPeriod
	if options.ResyncPeriod != nil {
		period = *options.ResyncPeriod
	}
	i.changing.Lock() // the store stands still until the handler is in
	defer i.changing.Unlock()
	return i.processor.Add(handler, processor.Options{
		Name:         i.Name() + " + event handler " + nameOf(handler),
		ResyncPeriod: i.adjusted(period, logger),
		Present:      present(i.store.Snapshot()),
		Logger:       &logger,
	})
}

// nameOf is what a handler calls itself, if it has a method Name, or else its type.
func nameOf(handler cache.ResourceEventHandler) string {
	if named, ok := handler.(interface{ Name() string }); ok {
		return named.Name()
	}
	return fmt.Sprintf("%T", handler)
}

// present gives all that is stored, as the adds of an initial list. It is read
// by the goroutine of the handler, however long that takes.
func present(stored store.Snapshot) iter.Seq[processor.Notification] {
	return func(yield func(processor.Notification) bool) {
		for key, obj := range stored.All() {
			if !yield(processor.Notification{Kind: processor.Added, Initial: true, Key: key, New: obj}) {
				return
			}
		}
	}
}

// adjusted is the period that a handler gets when it asks for one. Handlers are
// asked whether they are due at a period of the informer's own, which is the
// shortest that anybody asked for before the start.
func (i *Informer) adjusted(period time.Duration, logger klog.Logger) time.Duration {
	if period <= 0 {
		return 0
	}
	if i.resyncCheck == 0 {
		logger.Info("Warning: this informer does no resyncs, so the handler gets none", "type", i.typeName(),
			"resyncPeriod", period)
		return 0
	}
	wanted := period
	period = max(period, minimumResyncPeriod)
	if i.started {
		period = max(period, i.resyncCheck)
	} else {
		i.resyncCheck = max(min(period, i.resyncCheck), minimumResyncPeriod)
	}
	if period != wanted {
		logger.Info("Warning: the resync period is too short, and was made longer", "type", i.typeName(), "wanted",
			wanted, "resyncPeriod", period)
	}
	return period
}

// RemoveEventHandler removes a handler. It does not wait: a call that is under
// way, or just about to be, is still made. cache.ShutDownEventHandler waits for
// that call. The rest of the handler's backlog is dropped.
func (i *Informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	registration, ok := handle.(*processor.Registration)
	if !ok {
		return fmt.Errorf("removing a handler: %T is no registration of this informer", handle)
	}
	i.processor.Remove(registration)
	return nil
}

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
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	if i.onWatchError = handler; handler == nil {
		i.onWatchError = cache.DefaultWatchErrorHandler
	}
	return nil
}

// SetTransform sets what is called with each object before it is stored. A
// streamed list goes through it twice, so it must be able to take its own results.
func (i *Informer) SetTransform(transform cache.TransformFunc) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	i.transform = transform
	return nil
}

// SetObserver sets the observer, which is called with all that the informer does.
func (i *Informer) SetObserver(observer observer.Observer) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return errStarted
	}
	i.observer, i.processor.Observer = observer, observer
	return nil
}

// SetPatience sets how many notifications a handler can be behind, besides two for
// each object, before it gets the latest state of each object and not each change.
// With math.MaxInt it gets each change, always. The default is 16,384.
func (i *Informer) SetPatience(n int) { i.processor.SetPatience(n) }

// ResyncNow notifies all handlers of all that is stored, due or not. It makes no
// request.
func (i *Informer) ResyncNow() {
	i.changing.Lock()
	defer i.changing.Unlock()
	for key, obj := range i.store.Snapshot().All() {
		i.processor.Distribute(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
}

// AddIndexers adds indexes, even over what is stored already.
func (i *Informer) AddIndexers(indexers cache.Indexers) error {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.stopped {
		return fmt.Errorf("indexer was not added because it has stopped already: make a new informer of %s",
			i.typeName())
	}
	return i.store.AddIndexers(indexers)
}

// Run is RunWithContext with a channel.
func (i *Informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

// GetStore returns the store, to read from.
func (i *Informer) GetStore() cache.Store { return i.store }

// GetIndexer returns the store with its indexes, to read from.
func (i *Informer) GetIndexer() cache.Indexer { return i.store }

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
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reflector == nil {
		return ""
	}
	return i.reflector.LastSyncResourceVersion()
}

// IsStopped is true once the informer has run and ended. It will not run again.
func (i *Informer) IsStopped() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.stopped
}

// GetController returns something that can be asked, and not run.
func (i *Informer) GetController() cache.Controller { return controller{i} }

type controller struct{ *Informer }

// Run does nothing: the informer's owner runs it.
func (controller) Run(<-chan struct{}) {}

// RunWithContext does nothing either.
func (controller) RunWithContext(context.Context) {}

func (i *Informer) typeName() string {
	if i.options.ObjectDescription != "" {
		return i.options.ObjectDescription
	}
	return fmt.Sprintf("%T", i.example)
}
