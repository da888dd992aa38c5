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
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/journal"
	"example.com/informer/07-shared-informer/store"
)

// minimumResyncPeriod is the shortest period between two resyncs of a handler, as in client-go.
const minimumResyncPeriod = time.Second

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

func (i *Informer) typeName() string {
	if i.options.ObjectDescription != "" {
		return i.options.ObjectDescription
	}
	return fmt.Sprintf("%T", i.objectType)
}
