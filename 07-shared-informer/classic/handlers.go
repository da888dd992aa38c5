// Handlers that join and leave.

package classic

import (
	"fmt"
	"iter"
	"time"

	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/06-processor/processor"
)

// minimumResyncPeriod is the shortest period between two resyncs of a handler.
const minimumResyncPeriod = time.Second

// AddEventHandler is AddEventHandlerWithOptions without options.
func (s *SharedIndexInformer) AddEventHandler(handler cache.ResourceEventHandler) (
	cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{})
}

// AddEventHandlerWithResyncPeriod is AddEventHandlerWithOptions with a resync period.
func (s *SharedIndexInformer) AddEventHandlerWithResyncPeriod(handler cache.ResourceEventHandler,
	resyncPeriod time.Duration) (cache.ResourceEventHandlerRegistration, error) {
	return s.AddEventHandlerWithOptions(handler, cache.HandlerOptions{ResyncPeriod: &resyncPeriod})
}

// AddEventHandlerWithOptions adds a handler, at any time before the informer has stopped. If the
// informer runs, the handler first gets the objects in the store, as adds. blockDeltas is held from
// the look at the store until the handler has joined. So the handler misses no change, and gets
// none twice.
func (s *SharedIndexInformer) AddEventHandlerWithOptions(handler cache.ResourceEventHandler,
	options cache.HandlerOptions) (cache.ResourceEventHandlerRegistration, error) {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	if s.stopped {
		return nil, fmt.Errorf("handler %T was not added to shared informer because it has stopped already", handler)
	}
	logger := klog.Background()
	if options.Logger != nil {
		logger = *options.Logger
	}
	resyncPeriod := s.defaultEventHandlerResyncPeriod
	if options.ResyncPeriod != nil {
		resyncPeriod = *options.ResyncPeriod
	}
	listener := processor.Options{
		Name:         fmt.Sprintf("%s + event handler %T", s.Name(), handler),
		ResyncPeriod: s.determineResyncPeriod(logger, resyncPeriod),
		Logger:       &logger,
	}
	if !s.started {
		return s.processor.Add(handler, listener)
	}
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	listener.Present = present(s.indexer.List())
	return s.processor.Add(handler, listener)
}

// present returns the stored objects as the adds of an initial list.
func present(objs []any) iter.Seq[processor.Notification] {
	return func(yield func(processor.Notification) bool) {
		for _, obj := range objs {
			if !yield(processor.Notification{Kind: processor.Added, Initial: true, Key: keyOf(obj), New: obj}) {
				return
			}
		}
	}
}

// determineResyncPeriod returns the resync period that a handler gets when it asks for desired. The
// reflector asks every resyncCheckPeriod who is due. This is the shortest period that anybody asked
// for before the start. An informer without resyncs does none.
func (s *SharedIndexInformer) determineResyncPeriod(logger klog.Logger, desired time.Duration) time.Duration {
	switch {
	case desired == 0:
		return 0
	case s.resyncCheckPeriod == 0:
		logger.Info("Warning: this shared informer does no resyncs", "resyncPeriod", desired)
		return 0
	case desired > 0 && desired < minimumResyncPeriod:
		logger.Info("Warning: the resync period is too small", "resyncPeriod", desired, "minimum", minimumResyncPeriod)
		desired = minimumResyncPeriod
	}
	if desired >= s.resyncCheckPeriod {
		return desired
	}
	if desired > 0 && !s.started {
		s.resyncCheckPeriod = desired
		return desired
	}
	logger.Info("Warning: the resync period is smaller than the resync check period", "resyncPeriod", desired,
		"resyncCheckPeriod", s.resyncCheckPeriod)
	return s.resyncCheckPeriod
}

// RemoveEventHandler removes a handler, and drops its backlog. It does not wait for a call that is
// under way. cache.ShutDownEventHandler does.
func (s *SharedIndexInformer) RemoveEventHandler(handle cache.ResourceEventHandlerRegistration) error {
	registration, ok := handle.(*processor.Registration)
	if !ok {
		return fmt.Errorf("removing a handler: %T is no registration of this informer", handle)
	}
	s.processor.Remove(registration)
	return nil
}
