// Package informer is a shared informer: one LIST and one WATCH, one store with its indexes, and
// any number of handlers.
package informer

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/journal"
	"example.com/informer/07-shared-informer/store"
)

// An Informer keeps a store equal to the state of the server, and notifies handlers of every
// change. It is a cache.SharedIndexInformer, and keeps the contract of that interface, with one
// exception: a handler that is far behind gets the latest state of each object, and not each
// change. It runs once.
//
// There is no queue between the reflector and the store. The goroutine of the reflector changes the
// store and appends the change to a journal that the handlers read. It does not wait for a handler.
type Informer struct {
	listerWatcher         cache.ListerWatcher
	objectType            runtime.Object
	options               cache.SharedIndexInformerOptions
	indexer               *store.Store // only changes writes to it
	journal               *journal.Journal
	processor             *processor.Processor
	cacheMutationDetector cache.MutationDetector // does nothing, unless KUBE_CACHE_MUTATION_DETECTOR is set
	synced                chan struct{}          // closed when the store holds the first list
	sourceEnded           chan struct{}          // closed when the reflector has returned: the store changes no more
	ended                 chan struct{}          // closed when the run is over, and the last handler has returned
	version               signal                 // sent when the version of the store may have changed
	refusals              refusals               // the versions that the store has refused

	// blockDeltas is held from a change of the store until the change is in the journal. While you
	// hold it, the store and the journal agree, and a late handler can join safely.
	blockDeltas sync.Mutex

	stopping context.Context // ends when Stop is called
	cancel   context.CancelFunc
	started  atomic.Bool // set by RunWithContext, or by Stop

	startedLock       sync.Mutex // guards the fields below; lock it before blockDeltas
	stopped           bool
	reflector         *reflector.Reflector // nil until started
	resyncCheckPeriod time.Duration        // how often the informer looks for handlers that are due
	watchErrorHandler cache.WatchErrorHandlerWithContext
	transform         cache.TransformFunc // not changed once started
	observer          observer.Observer   // not changed once started; may be nil
}

// New returns an informer of the objects that lw lists and watches. exampleObject has their type.
// The parameters are those of client-go's NewSharedIndexInformerWithOptions.
func New(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) *Informer {
	fanout := journal.New()
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
		journal:               fanout,
		processor:             processor.New(fanout),
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

	// The end, in the opposite order of these lines. Each of them is done even if a transform or an
	// observer panics: the caller may recover.
	stopMutationDetector := i.startMutationDetector()
	defer close(i.ended)
	defer stopMutationDetector()
	defer i.stopHandlers()
	defer close(i.sourceEnded)

	source := i.newReflector()
	i.processor.Start()
	source.Run(ctx)
}

// Run is RunWithContext with a channel.
func (i *Informer) Run(stop <-chan struct{}) { i.RunWithContext(wait.ContextForChannel(stop)) }

// Stop ends the run. An informer that was not run before will never run. Stop does not wait, and so
// every callback may call it: a handler, a watch error handler, a transform, an index function, an
// observer. ShutdownChan is closed when the run is over.
func (i *Informer) Stop() {
	i.cancel()
	if i.started.Swap(true) { // without a lock, because a callback may run under a lock
		return // RunWithContext does the rest
	}
	close(i.sourceEnded)
	go func() { // stopHandlers waits for a lock
		defer close(i.ended)
		i.stopHandlers()
	}()
}

// ShutdownChan is closed when the informer has run or was stopped, and its last handler has
// returned.
func (i *Informer) ShutdownChan() <-chan struct{} { return i.ended }

func (i *Informer) startMutationDetector() (stop func()) {
	var running sync.WaitGroup
	done := make(chan struct{})
	running.Go(func() { i.cacheMutationDetector.Run(done) })
	return func() {
		close(done)
		running.Wait()
	}
}

// stopHandlers refuses new handlers, and ends the others. It returns when the last handler has
// returned.
func (i *Informer) stopHandlers() {
	i.startedLock.Lock()
	i.stopped = true
	i.startedLock.Unlock()
	i.processor.Stop()
}

// newReflector makes the reflector from the settings before the start.
func (i *Informer) newReflector() *reflector.Reflector {
	i.startedLock.Lock()
	defer i.startedLock.Unlock()
	if i.observer != nil {
		i.processor.SetObserver(i.observer)
	}
	if i.resyncCheckPeriod > 0 {
		i.resyncCheckPeriod = max(i.resyncCheckPeriod, minimumResyncPeriod)
	}
	options := reflector.Options{
		ListerWatcher:   i.listerWatcher,
		Store:           changes{i},
		ExpectedType:    i.objectType,
		TypeDescription: i.options.ObjectDescription,
		ResyncPeriod:    i.resyncCheckPeriod,
		ShouldResync:    func() bool { return i.processor.ShouldResync(time.Now()) },
		Observer:        i.observer,
	}
	options.WatchErrorHandler = reflector.ToWatchErrorHandler(i.watchErrorHandler, options)
	i.reflector = reflector.New(options)
	return i.reflector
}
