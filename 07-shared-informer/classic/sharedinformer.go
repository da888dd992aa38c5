// Package classic is client-go's shared informer in its simplest form, put together from the parts
// of chapters 01 to 06. A reflector writes to a queue, a DeltaFIFO. A loop pops from the queue,
// changes the store and notifies the handlers. Each handler has two channels, and between them a
// ring buffer.
//
// Types, methods and fields have the names that they have in client-go's tools/cache, in
// shared_informer.go and controller.go.
package classic

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/06-processor/processor"
)

// A SharedIndexInformer keeps a store equal to the state of the server, and notifies handlers of
// every change. It has three components: the indexer is the store, the controller fills it, and the
// processor notifies the handlers. It is a cache.SharedIndexInformer, and runs once.
//
// Its queue groups changes by object. So a handler gets the changes of one object in their order,
// and there is no order between objects. The queue also drops bookmarks, and the delete of an
// object that nobody knows. Two deletes of an object in a row become one.
type SharedIndexInformer struct {
	indexer               *indexer.Indexer // only processDeltas writes to it
	processor             *processor.Processor
	cacheMutationDetector cache.MutationDetector // does nothing, unless KUBE_CACHE_MUTATION_DETECTOR is set
	synced                chan struct{}          // closed when the store holds the first list

	listerWatcher                   cache.ListerWatcher
	objectType                      runtime.Object
	objectDescription               string
	defaultEventHandlerResyncPeriod time.Duration // of a handler that does not ask for another one

	// blockDeltas is held from a change of the store until the handlers are notified. While you hold
	// it, a late handler can join safely.
	blockDeltas sync.Mutex

	startedLock       sync.Mutex // guards the fields below; lock it before blockDeltas
	started, stopped  bool
	controller        *controller                        // nil until started
	resyncCheckPeriod time.Duration                      // how often the reflector asks who is due for a resync
	watchErrorHandler cache.WatchErrorHandlerWithContext // nil: errors are logged
	transform         cache.TransformFunc                // nil: objects stay as they are
}

var _ cache.SharedIndexInformer = (*SharedIndexInformer)(nil)

// New returns an informer of the objects that lw lists and watches. exampleObject has their type.
// The parameters are those of client-go's NewSharedIndexInformerWithOptions. There are no metrics.
func New(lw cache.ListerWatcher, exampleObject runtime.Object,
	options cache.SharedIndexInformerOptions) *SharedIndexInformer {
	return &SharedIndexInformer{
		indexer:                         indexer.New(cache.DeletionHandlingMetaNamespaceKeyFunc, options.Indexers),
		processor:                       processor.New(processor.NewChannels()),
		cacheMutationDetector:           cache.NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
		synced:                          make(chan struct{}),
		listerWatcher:                   lw,
		objectType:                      exampleObject,
		objectDescription:               options.ObjectDescription,
		defaultEventHandlerResyncPeriod: options.ResyncPeriod,
		resyncCheckPeriod:               options.ResyncPeriod,
	}
}

// RunWithContext lists, watches and calls handlers until ctx ends. It returns when the last handler
// has returned. A second call logs a warning and does nothing.
func (s *SharedIndexInformer) RunWithContext(ctx context.Context) {
	if !s.start() {
		klog.FromContext(ctx).Info("Warning: the informer has started, run more than once is not allowed")
		return
	}
	// The end, in the opposite order of these lines: the processor stops after the controller.
	var running sync.WaitGroup
	done := make(chan struct{})
	defer running.Wait()
	defer close(done)
	defer s.stop()

	running.Go(func() { s.cacheMutationDetector.Run(done) })
	running.Go(func() { s.watchSynced(done) })
	s.processor.Start()
	s.controller.RunWithContext(ctx)
}

// Run is RunWithContext with a channel.
func (s *SharedIndexInformer) Run(stopCh <-chan struct{}) {
	s.RunWithContext(wait.ContextForChannel(stopCh))
}

// start makes the controller from the settings before the start. It returns false if the informer
// was started before.
func (s *SharedIndexInformer) start() bool {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	if s.started {
		return false
	}
	s.started = true
	s.controller = s.newController()
	return true
}

// watchSynced waits until the loop has handled the first list. By then, all of the list is in the
// store, and on its way to the handlers.
func (s *SharedIndexInformer) watchSynced(done <-chan struct{}) {
	select {
	case <-s.controller.queue.Done():
		close(s.synced)
		s.processor.Synced()
	case <-done:
	}
}

// stop refuses new handlers, and ends the others. It returns when the last handler has returned.
func (s *SharedIndexInformer) stop() {
	s.startedLock.Lock()
	s.stopped = true
	s.startedLock.Unlock()
	s.processor.Stop()
}

// IsStopped is true once the informer has ended. It will not run again.
func (s *SharedIndexInformer) IsStopped() bool {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	return s.stopped
}

// HasSynced is true once the store holds the first list. The registration of a handler says whether
// the handler has got that list.
func (s *SharedIndexInformer) HasSynced() bool { return cache.IsDone(s) }

// HasSyncedChecker is HasSynced as a channel to wait for.
func (s *SharedIndexInformer) HasSyncedChecker() cache.DoneChecker { return s }

// Name implements cache.DoneChecker.
func (s *SharedIndexInformer) Name() string {
	return fmt.Sprintf("SharedIndexInformer %T", s.objectType)
}

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (s *SharedIndexInformer) Done() <-chan struct{} { return s.synced }

// LastSyncResourceVersion is the version that the watch has reached. It is empty before the first
// list.
func (s *SharedIndexInformer) LastSyncResourceVersion() string {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	if s.controller == nil {
		return ""
	}
	return s.controller.reflector.LastSyncResourceVersion()
}

// GetStore returns the store, to read from.
func (s *SharedIndexInformer) GetStore() cache.Store { return s.indexer }

// GetIndexer returns the store with its indexes, to read from.
func (s *SharedIndexInformer) GetIndexer() cache.Indexer { return s.indexer }

// AddIndexers adds indexes. They include the objects that are already in the store.
func (s *SharedIndexInformer) AddIndexers(indexers cache.Indexers) error {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	if s.stopped {
		return errors.New("indexer was not added because it has stopped already")
	}
	return s.indexer.AddIndexers(indexers)
}

var errStarted = errors.New("informer has already started")

// SetWatchErrorHandler is SetWatchErrorHandlerWithContext without the context.
func (s *SharedIndexInformer) SetWatchErrorHandler(handler cache.WatchErrorHandler) error {
	return s.SetWatchErrorHandlerWithContext(func(_ context.Context, r *cache.Reflector, err error) { handler(r, err) })
}

// SetWatchErrorHandlerWithContext sets the function that is called when a list or a watch has
// failed, before the reflector tries again. Default: the error is logged.
func (s *SharedIndexInformer) SetWatchErrorHandlerWithContext(handler cache.WatchErrorHandlerWithContext) error {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	if s.started {
		return errStarted
	}
	s.watchErrorHandler = handler
	return nil
}

// SetTransform sets the function that is called with each object before it is queued. The objects
// of a streamed list go through it twice. So it must accept its own results.
func (s *SharedIndexInformer) SetTransform(transform cache.TransformFunc) error {
	s.startedLock.Lock()
	defer s.startedLock.Unlock()
	if s.started {
		return errStarted
	}
	s.transform = transform
	return nil
}
