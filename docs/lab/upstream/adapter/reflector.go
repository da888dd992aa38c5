// A reflector with the names of client-go's tests.

package adapter

import (
	"context"
	"errors"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/03-reflector/reflector"
)

// A Reflector is our reflector with the fields and methods of client-go's. A test can set the
// fields until the first call of a method, because this call makes our reflector.
type Reflector struct {
	ListerWatcher cache.ListerWatcher // a test can also set it later
	Store         cache.ReflectorStore

	// Delay is called when our reflector begins a pause. Its result is not used. As in client-go, a
	// reflector with this field does not request streamed lists.
	Delay func() time.Duration

	// WatchListPageSize is the page size of LISTs. A test can also set it later.
	WatchListPageSize int64

	expected any
	resync   time.Duration
	options  cache.ReflectorOptions
	ended    error // why the last watch has ended

	once sync.Once
	made *reflector.Reflector
}

// NewReflector is cache.NewReflector.
func NewReflector(lw cache.ListerWatcher, expected any, store cache.ReflectorStore, resync time.Duration) *Reflector {
	return &Reflector{ListerWatcher: lw, Store: store, expected: expected, resync: resync}
}

// NewReflectorWithOptions is cache.NewReflectorWithOptions, with two of its options. It panics if
// others are set.
func NewReflectorWithOptions(lw cache.ListerWatcher, expected any, store cache.ReflectorStore,
	options cache.ReflectorOptions) *Reflector {
	r := NewReflector(lw, expected, store, 0)
	r.options.MinWatchTimeout, r.options.Backoff = options.MinWatchTimeout, options.Backoff
	if options != r.options {
		panic("our reflector does not have these options")
	}
	return r
}

// reflector returns our reflector. The first call makes it.
func (r *Reflector) reflector() *reflector.Reflector {
	r.once.Do(func() {
		expected, _ := r.expected.(runtime.Object)
		r.made = reflector.New(reflector.Options{ListerWatcher: r.source(), Store: r.Store, ExpectedType: expected,
			ResyncPeriod: r.resync, MinWatchTimeout: r.options.MinWatchTimeout, Backoff: r.options.Backoff,
			Observer: observer.Func(r.observe)})
	})
	return r.made
}

// observe is the observer of our reflector.
func (r *Reflector) observe(e observer.Event) {
	switch e.Kind {
	case observer.BackingOff:
		if r.Delay != nil {
			r.Delay()
		}
	case observer.Ended:
		r.ended = e.Err
	}
}

// ListAndWatchWithContext lists and watches once.
func (r *Reflector) ListAndWatchWithContext(ctx context.Context) error {
	made := r.reflector()
	made.WatchListPageSize = r.WatchListPageSize
	return made.ListAndWatch(ctx)
}

// RunWithContext lists and watches until ctx ends.
func (r *Reflector) RunWithContext(ctx context.Context) { r.reflector().Run(ctx) }

// Run lists and watches until stop is closed.
func (r *Reflector) Run(stop <-chan struct{}) { r.RunWithContext(wait.ContextForChannel(stop)) }

// LastSyncResourceVersion is the version that the store is as of.
func (r *Reflector) LastSyncResourceVersion() string { return r.reflector().LastSyncResourceVersion() }

// source returns a ListerWatcher that passes requests on to the current ListerWatcher.
func (r *Reflector) source() cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return cache.ToListerWatcherWithContext(r.ListerWatcher).ListWithContext(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return cache.ToListerWatcherWithContext(r.ListerWatcher).WatchWithContext(ctx, options)
		},
	}, streamSupport{r})
}

// streamSupport says whether a reflector can request streamed lists.
type streamSupport struct{ reflector *Reflector }

// IsWatchListSemanticsUnSupported is the method that client-go looks for.
func (s streamSupport) IsWatchListSemanticsUnSupported() bool {
	return s.reflector.Delay != nil ||
		watchlist.DoesClientNotSupportWatchListSemantics(s.reflector.ListerWatcher)
}

// errNoWatch is the error of a source without watches.
var errNoWatch = errors.New("no watch")

// listOnly lists and watches once. The list comes from the function, and each WATCH fails. It says
// whether the reflector has requested a streamed list.
func (r *Reflector) listOnly(ctx context.Context, list cache.ListWithContextFunc) (streams bool, err error) {
	r.reflector()
	before := r.ListerWatcher
	defer func() { r.ListerWatcher = before }()
	r.ListerWatcher = &cache.ListWatch{ListWithContextFunc: list,
		WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if options.SendInitialEvents != nil {
				streams = true
			}
			return nil, errNoWatch
		}}
	err = r.ListAndWatchWithContext(ctx)
	if errors.Is(err, errNoWatch) {
		return streams, nil
	}
	return streams, err
}

// emptyList returns a list function that returns an empty list with this version.
func emptyList(version string) cache.ListWithContextFunc {
	return func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return &metav1.List{ListMeta: metav1.ListMeta{ResourceVersion: version}}, nil
	}
}

// List fills the store, and does not watch.
func (r *Reflector) List(ctx context.Context) error {
	_, err := r.listOnly(ctx, cache.ToListerWatcherWithContext(r.ListerWatcher).ListWithContext)
	return err
}

// UseWatchList says whether the reflector requests a streamed list first.
func (r *Reflector) UseWatchList() bool {
	streams, _ := r.listOnly(context.Background(), func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		return nil, errors.New("no list")
	})
	return streams
}

// SetLastSyncResourceVersion makes the reflector list an empty list with this version.
func (r *Reflector) SetLastSyncResourceVersion(version string) {
	_, err := r.listOnly(context.Background(), emptyList(version))
	panicOn(err)
}
