// Adding and removing handlers.

package informer

import (
	"errors"
	"fmt"
	"iter"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/06-processor/processor"
)

// minimumResyncPeriod is the shortest period between two resyncs of a handler, as in client-go.
const minimumResyncPeriod = time.Second

// AddEventHandler is AddEventHandlerWithOptions without options.
func (i *Informer) AddEventHandler(handler cache.ResourceEventHandler) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with a resync period.
func (i *Informer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler,
	resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return i.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions adds a handler, at any time before the informer has stopped. First the
// handler gets the objects that the store holds now, as adds. A panic of the handler is reported to
// utilruntime's PanicHandlers, with the logger of its options. A second later the handler gets the
// next notification.
func (i *Informer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	switch {
	case handler == nil:
		return nil, errors.New("the handler is nil: cache.ResourceEventHandlerFuncs{} does nothing")
	case i.stopped:
		return nil, fmt.Errorf(
			"make a new informer of %s: handler %T was not added to shared informer because it has stopped already",
			i.typeName(), handler) // the end is client-go's text: callers search for it
	}
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	period := i.options.ResyncPeriod
	if options.ResyncPeriod != nil {
		period = *options.ResyncPeriod
	}
	name := nameForHandler(handler)
	i.blockDeltas.Lock() // the store does not change until the handler has joined
	defer i.blockDeltas.Unlock()
	return i.processor.Add(handler, processor.Options{
		Name:         i.Name() + " + event handler " + name,
		HandlerName:  name,
		ResyncPeriod: i.determineResyncPeriod(period, logger),
		Present:      present(i.indexer.All()),
		Logger:       &logger,
	})
}

// present returns the stored objects as the adds of an initial list. The goroutine of the handler
// reads them, and takes as much time as it needs.
func present(stored iter.Seq2[string, any]) iter.Seq[processor.Notification] {
	return func(yield func(processor.Notification) bool) {
		for key, obj := range stored {
			if !yield(processor.Notification{Kind: processor.Added, Initial: true, Key: key, New: obj}) {
				return
			}
		}
	}
}

// determineResyncPeriod returns the resync period that a handler gets when it asks for period. The
// informer looks for handlers that are due every resyncCheckPeriod. This is the shortest period
// that anybody asked for before the start.
func (i *Informer) determineResyncPeriod(period time.Duration, logger klog.Logger) time.Duration {
	if period <= 0 {
		return 0
	}
	if i.resyncCheckPeriod == 0 {
		logger.Info("Warning: this informer does no resyncs, so the handler gets none", "type", i.typeName(),
			"resyncPeriod", period)
		return 0
	}
	wanted := period
	period = max(period, minimumResyncPeriod)
	if i.started.Load() {
		period = max(period, i.resyncCheckPeriod)
	} else {
		i.resyncCheckPeriod = max(min(period, i.resyncCheckPeriod), minimumResyncPeriod)
	}
	if period != wanted {
		logger.Info("Warning: the resync period is too short, and was made longer", "type", i.typeName(), "wanted",
			wanted, "resyncPeriod", period)
	}
	return period
}

// RemoveEventHandler removes a handler, and drops its backlog. It does not wait for a call that is
// under way, or is about to begin. cache.ShutDownEventHandler waits for that call.
func (i *Informer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	registration, ok := handle.(*processor.Registration)
	if !ok {
		return fmt.Errorf("removing a handler: %T is not a registration of this informer", handle)
	}
	i.processor.Remove(registration)
	return nil
}

// ResyncNow notifies all handlers of every object in the store, whether they are due or not. It
// makes no request. After the informer has stopped, it does nothing.
func (i *Informer) ResyncNow() {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.stopped {
		return
	}
	i.blockDeltas.Lock()
	defer i.blockDeltas.Unlock()
	for key, obj := range i.indexer.All() {
		i.processor.Distribute(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
}
