// Package informer is a shared informer: one LIST and one WATCH, one store with
// its indexes, and as many handlers as you like.
package informer

import (
	"context"
	"fmt"
	"sync"
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
	listerWatcher cache.ListerWatcher
	example       runtime.Object
	options       cache.SharedIndexInformerOptions
	store         *store.Store // written by changes alone
	processor     *processor.Processor
	mutations     cache.MutationDetector // does nothing, unless KUBE_CACHE_MUTATION_DETECTOR is set
	synced        chan struct{}          // closed when the store holds the first list
	ended         chan struct{}          // closed when it has run, and its last handler has returned

	// changing is held from a change of the store until it is in the log: while
	// you hold it, the store and the log agree.
	changing sync.Mutex

	mu           sync.Mutex // guards what is below; taken before changing
	started      bool
	cancel       context.CancelFunc // of its run; set when it is started
	stopped      bool
	reflector    *reflector.Reflector // nil until started
	resyncCheck  time.Duration        // how often handlers are asked whether they are due
	onWatchError cache.WatchErrorHandlerWithContext
	transform    cache.TransformFunc // not changed once started
	observer     observer.Observer   // not changed once started; nil if there is none
}

// New returns an informer of the objects that lw lists and watches, such as
// exampleObject. Its parameters are those of client-go's
// NewSharedIndexInformerWithOptions.
func New(lw cache.ListerWatcher, exampleObject runtime.Object, options cache.SharedIndexInformerOptions) *Informer {
	return &Informer{
		listerWatcher: lw,
		example:       exampleObject,
		options:       options,
		store: store.New(store.Options{
			Indexers:        options.Indexers,
			Identifier:      options.Identifier,
			MetricsProvider: options.InformerMetricsProvider,
		}),
		processor:    processor.New(processor.NewLog()),
		mutations:    cache.NewCacheMutationDetector(fmt.Sprintf("%T", exampleObject)),
		synced:       make(chan struct{}),
		ended:        make(chan struct{}),
		resyncCheck:  max(options.ResyncPeriod, 0),
		onWatchError: cache.DefaultWatchErrorHandler,
	}
}

// RunWithContext lists, watches and calls handlers until ctx ends, and until
// the last handler has returned. A second call says so and does nothing.
func (i *Informer) RunWithContext(ctx context.Context) {
	if !i.run(ctx) {
		klog.FromContext(ctx).Info("Warning: this informer was run before, and it runs once: make a new one", "type",
			i.typeName())
	}
}

// Stop ends the run, whoever has begun it, and returns when the last handler has
// returned; a handler must therefore not call it. If there was no run, there will
// be none.
func (i *Informer) Stop() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	i.run(ctx) // a run that ends at once, if it is the first
	i.cancel()
	<-i.ended
}

// run is RunWithContext. It returns false if it was called before.
func (i *Informer) run(ctx context.Context) bool {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	reflector := i.start(cancel)
	if reflector == nil {
		return false
	}
	i.processor.Start()
	var checking sync.WaitGroup
	over := make(chan struct{})
	checking.Go(func() { i.mutations.Run(over) })
	defer func() { // even if a transform panics: the caller may recover
		i.mu.Lock()
		i.stopped = true
		i.mu.Unlock()
		i.processor.Stop()
		close(over)
		checking.Wait()
		close(i.ended)
	}()
	reflector.Run(ctx)
	return true
}

// start makes the reflector, once; nil if there is one already.
func (i *Informer) start(cancel context.CancelFunc) *reflector.Reflector {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.started {
		return nil
	}
	i.started, i.cancel = true, cancel
	if i.resyncCheck > 0 {
		i.resyncCheck = max(i.resyncCheck, minimumResyncPeriod)
	}
	i.reflector = reflector.New(reflector.Options{
		ListerWatcher:     i.listerWatcher,
		Store:             changes{i},
		ExpectedType:      i.example,
		TypeDescription:   i.options.ObjectDescription,
		ResyncPeriod:      i.resyncCheck,
		ShouldResync:      func() bool { return i.processor.ShouldResync(time.Now()) },
		WatchErrorHandler: i.watchErrorHandler(),
		Observer:          i.observer,
	})
	return i.reflector
}

// watchErrorHandler returns the error handler as a reflector of ours calls it. It
// gets a reflector of client-go's that never runs, since that is in its type: it
// can ask that one for a name and a type.
func (i *Informer) watchErrorHandler() func(context.Context, error) {
	handler := i.onWatchError
	named := cache.NewReflectorWithOptions(i.listerWatcher, i.example, changes{i},
		cache.ReflectorOptions{TypeDescription: i.options.ObjectDescription})
	return func(ctx context.Context, err error) { handler(ctx, named, err) }
}
