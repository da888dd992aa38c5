// Package informer is a shared informer: one LIST and one WATCH, one store with its indexes, and
// any number of handlers. It is made of parts that can be replaced: a queue, a store, and what brings
// each change to all handlers.
//
// What does the same as in client-go's tools/cache has its name there, in shared_informer.go and
// controller.go.
package informer

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/06-processor/processor"
)

// An Informer keeps a store equal to the state of the server, and notifies handlers of every
// change. It is a cache.SharedIndexInformer, and runs once.
//
// The reflector lists and watches, and writes to the queue. A loop pops from the queue, changes the
// store, and hands each change to the processor, which has the handlers. It waits for no handler.
type Informer struct {
	listerWatcher         cache.ListerWatcher
	objectType            runtime.Object
	options               cache.SharedIndexInformerOptions
	queue                 *transformingQueue
	indexer               Store // only processDelta writes to it
	fanout                processor.Fanout
	processor             *processor.Processor
	cacheMutationDetector cache.MutationDetector // does nothing, unless KUBE_CACHE_MUTATION_DETECTOR is set
	synced                chan struct{}          // closed when the store holds the first list

	// blockDeltas is held from a change of the store until the handlers are notified. While you hold
	// it, a late handler can join safely.
	blockDeltas sync.Mutex

	started atomic.Bool // set by RunWithContext, or by Stop

	startedLock       sync.Mutex // guards the fields below; lock it before blockDeltas
	stopped           bool
	reflector         *reflector.Reflector // nil until started
	resyncCheckPeriod time.Duration        // how often the informer looks for handlers that are due
	watchErrorHandler cache.WatchErrorHandlerWithContext
	observer          observer.Observer // not changed once started; may be nil

	stopping    context.Context // ends when Stop is called
	cancel      context.CancelFunc
	sourceEnded chan struct{} // closed when the store changes no more
	ended       chan struct{} // closed when the run is over, and the last handler has returned
	version     signal        // sent when the version of the store may have changed
	refusals    refusals      // the versions that the store has refused
}

// New returns an informer of the objects that lw lists and watches. exampleObject has their type.
// The parameters are those of client-go's NewSharedIndexInformerWithOptions. Its parts are a RealFIFO,
// an Indexer, and channels.
func New(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) *Informer {
	return NewWithParts(lw, exampleObject, options, Default)
}

// NewWithParts is New with other parts.
func NewWithParts(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions,
	parts Parts) *Informer {
	if parts.Queue == nil {
		parts.Queue = Default.Queue
	}
	if parts.Store == nil {
		parts.Store = Default.Store
	}
	if parts.Fanout == nil {
		parts.Fanout = Default.Fanout
	}
	i := &Informer{
		listerWatcher:         lw,
		objectType:            exampleObject,
		options:               options,
		indexer:               parts.Store(options),
		fanout:                parts.Fanout(),
		cacheMutationDetector: cache.NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
		synced:                make(chan struct{}),
		sourceEnded:           make(chan struct{}),
		ended:                 make(chan struct{}),
		resyncCheckPeriod:     max(options.ResyncPeriod, 0),
		watchErrorHandler:     cache.DefaultWatchErrorHandler,
	}
	i.queue = &transformingQueue{Queue: parts.Queue(i.indexer), refused: i.refused}
	i.processor = processor.New(i.fanout)
	i.stopping, i.cancel = context.WithCancel(context.Background())
	return i
}

// RunWithContext lists, watches and calls handlers until ctx ends or Stop is called. It returns
// when the last handler has returned. A second call logs a warning and does nothing.
func (i *Informer) RunWithContext(ctx context.Context) {
	if i.started.Swap(true) {
		klog.FromContext(ctx).Info("Warning: this informer was run before, and it runs once: make a new one", "type",
			i.typeName())
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(i.stopping, cancel)()

	// The end, in the opposite order of these lines: the processor stops after the controller. Each
	// of them is done even if a transform or an index function panics: the caller may recover.
	stopMutationDetector := i.startMutationDetector()
	defer close(i.ended)
	defer stopMutationDetector()
	defer i.stopHandlers()
	defer close(i.sourceEnded)

	source := i.newReflector()
	i.processor.Start()
	i.runController(ctx, source)
}

// runController runs the reflector, which writes to the queue, and the loop, which pops, until ctx
// ends.
func (i *Informer) runController(ctx context.Context, source *reflector.Reflector) {
	ctx, cancel := context.WithCancel(ctx)
	g := goroutines{cancel: cancel, logger: klog.FromContext(ctx)}
	defer g.wait()
	g.start(func() {
		i.watchSynced(ctx)
		<-ctx.Done() // a Pop that waits does not see it
		i.queue.Close()
	})
	g.start(func() {
		defer cancel() // a callback may have ended this goroutine: runtime.Goexit
		source.Run(ctx)
	})
	i.processLoop(ctx)
}

// processLoop pops until ctx ends. What waits in the queue by then is dropped.
func (i *Informer) processLoop(ctx context.Context) {
	for ctx.Err() == nil {
		err := i.queue.Pop(i.handleDeltas)
		if err != nil && !errors.Is(err, cache.ErrFIFOClosed) {
			i.handleRefused(ctx, err)
		}
	}
}

// watchSynced waits until the first list is popped. By then, all of the list is in the store, and
// on its way to the handlers. (A DeltaFIFO does not queue an empty list: it is done without a pop.)
func (i *Informer) watchSynced(ctx context.Context) {
	select {
	case <-i.queue.Done():
		close(i.synced)
		i.processor.Synced()
	case <-ctx.Done():
	}
}

func (i *Informer) typeName() string {
	if i.options.ObjectDescription != "" {
		return i.options.ObjectDescription
	}
	return fmt.Sprintf("%T", i.objectType)
}
