// Package informer is a shared informer: one LIST and one WATCH, one store with
// its indexes, and as many handlers as you like.
package informer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/04-indexer/store"
	"example.com/informer/06-processor/processor"
)

// An Informer keeps a store equal to what the server has, and notifies handlers
// of every change. It is a cache.SharedIndexInformer, and keeps the contract that
// is written there, with one exception: a handler that has fallen far behind gets
// the latest state of each object, and not each change. It runs once.
//
// There is no queue between the reflector and the store. The reflector's own
// goroutine changes the store and appends the change to a log that the handlers
// read. It waits for none of them.
type Informer struct {
	listerWatcher         cache.ListerWatcher
	objectType            runtime.Object
	options               cache.SharedIndexInformerOptions
	indexer               *store.Store // written by changes alone
	log                   *processor.Log
	processor             *processor.Processor
	cacheMutationDetector cache.MutationDetector // does nothing, unless KUBE_CACHE_MUTATION_DETECTOR is set
	synced                chan struct{}          // closed when the store holds the first list
	sourceEnded           chan struct{}          // closed when the reflector has returned: the store changes no more
	ended                 chan struct{}          // closed when it has run, and its last handler has returned
	version               signal                 // sent when the store may have come to another version
	refusals              refusals               // what it has not come to

	// blockDeltas is held from a change of the store until it is in the log: while
	// you hold it, the store and the log agree, and a late handler can join safely.
	blockDeltas sync.Mutex

	stopping context.Context // ends when Stop is called
	cancel   context.CancelFunc
	started  atomic.Bool

	startedLock       sync.Mutex // guards what is below; taken before blockDeltas
	stopped           bool
	reflector         *reflector.Reflector // nil until started
	resyncCheckPeriod time.Duration        // how often handlers are asked whether they are due
	watchErrorHandler cache.WatchErrorHandlerWithContext
	transform         cache.TransformFunc // not changed once started
	observer          observer.Observer   // not changed once started; nil if there is none
}

// New returns an informer of the objects that lw lists and watches, such as
// exampleObject. Its parameters are those of client-go's
// NewSharedIndexInformerWithOptions.
func New(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) *Informer {
	log := processor.NewLog()
	stopping, cancel := context.WithCancel(context.Background())
	return &Informer{
		listerWatcher: lw,
		objectType:    exampleObject,
		options:       options,
		indexer: store.New(store.Options{
			Indexers:        options.Indexers,
			Identifier:      options.Identifier,
			MetricsProvider: options.InformerMetricsProvider,
		}),
		log:                   log,
		processor:             processor.New(log),
		cacheMutationDetector: cache.NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
		synced:                make(chan struct{}),
		sourceEnded:           make(chan struct{}),
		ended:                 make(chan struct{}),
		stopping:              stopping,
		cancel:                cancel,
		resyncCheckPeriod:     max(options.ResyncPeriod, 0),
		watchErrorHandler:     cache.DefaultWatchErrorHandler,
	}
}

// RunWithContext lists, watches and calls handlers until ctx ends or Stop is called, and
// until the last handler has returned. A second call says so and does nothing.
func (i *Informer) RunWithContext(ctx context.Context) {
	if !i.run(ctx) {
		klog.FromContext(ctx).Info("Warning: this informer was run before, and it runs once: make a new one", "type",
			i.typeName())
	}
}

// Stop ends the run, whoever has begun it. If there was no run, there will be none. It
// does not wait, so that every part of the program may call it: a handler, a watch error
// handler, a transform, an index function, an observer. ShutdownChan says when the run is
// over.
func (i *Informer) Stop() {
	i.cancel()
	i.run(i.stopping) // a run that ends at once, if it is the first
}

// ShutdownChan is closed when the informer has run, and its last handler has returned.
func (i *Informer) ShutdownChan() <-chan struct{} { return i.ended }

// run is RunWithContext. It returns false if it was called before.
func (i *Informer) run(ctx context.Context) bool {
	if i.started.Swap(true) { // without a lock: Stop may be called while one is held
		return false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(i.stopping, cancel)()
	var checking sync.WaitGroup
	over := make(chan struct{})
	checking.Go(func() { i.cacheMutationDetector.Run(over) })

	// How it ends, the last one first. Each of them is done even if a transform or an
	// observer panics: the caller may recover.
	defer close(i.ended)
	defer checking.Wait()
	defer close(over)
	defer i.processor.Stop()
	defer i.refuseHandlers()
	defer close(i.sourceEnded)

	source := i.newReflector()
	i.processor.Start()
	source.Run(ctx)
	return true
}

func (i *Informer) refuseHandlers() {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	i.stopped = true
}

// newReflector makes the reflector, out of what was set before the start.
func (i *Informer) newReflector() *reflector.Reflector {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.observer != nil {
		i.log.SetObserver(i.observer)
	}
	if i.resyncCheckPeriod > 0 {
		i.resyncCheckPeriod = max(i.resyncCheckPeriod, minimumResyncPeriod)
	}
	i.reflector = reflector.New(reflector.Options{
		ListerWatcher:     i.listerWatcher,
		Store:             changes{i},
		ExpectedType:      i.objectType,
		TypeDescription:   i.options.ObjectDescription,
		ResyncPeriod:      i.resyncCheckPeriod,
		ShouldResync:      func() bool { return i.processor.ShouldResync(time.Now()) },
		WatchErrorHandler: i.reportWatchError(),
		Observer:          i.observer,
	})
	return i.reflector
}

// reportWatchError returns the error handler as a reflector of ours calls it. It has a
// reflector of client-go's in its type, to be asked for a name and a type. The one that
// it gets never runs.
func (i *Informer) reportWatchError() func(context.Context, error) {
	handler := i.watchErrorHandler
	named := cache.NewReflectorWithOptions(i.listerWatcher, i.objectType, nil,
		cache.ReflectorOptions{TypeDescription: i.options.ObjectDescription})
	return func(ctx context.Context, err error) { handler(ctx, named, err) }
}
