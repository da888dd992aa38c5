// Package reflector keeps a store in step with a server: it lists, watches, and
// begins again when either of the two ends.
package reflector

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"

	"example.com/informer/03-reflector/observer"
)

// Options of a Reflector. The first two have no default.
type Options struct {
	ListerWatcher cache.ListerWatcher  // where the objects are listed and watched
	Store         cache.ReflectorStore // what is kept in step

	// ExpectedType is an object such as the watch sends. An object of another type
	// is reported and left out. For *unstructured.Unstructured its kind counts, too.
	// Default: any object will do.
	ExpectedType runtime.Object

	// TypeDescription is what errors and logs call the type. Default: that of
	// ExpectedType.
	TypeDescription string

	// ResyncPeriod is how often Resync of the store is called. Default: never.
	ResyncPeriod time.Duration

	// ShouldResync is asked before each Resync. Default: yes.
	ShouldResync func() bool

	// WatchListPageSize is how many objects a page of a LIST has. A server reads pages
	// from etcd, which is slow, if its watch cache does not have their version. Default:
	// 500, and no pages where a list without them can come from the watch cache.
	WatchListPageSize int64

	// MinWatchTimeout is the least time after which the server is asked to end a
	// watch. The time is random, up to twice as long. Default: five minutes. Less
	// counts as five minutes: short watches are much work for a server.
	MinWatchTimeout time.Duration

	// Backoff is how the pauses after failures grow. Default: client-go's, from about
	// a second to about a minute.
	Backoff *wait.Backoff

	// WatchErrorHandler is called when there was no list, or no watch could be opened,
	// before it is tried again. It is not called for a watch that the server refuses to
	// open (connection refused, 429), and not when an open watch ends with an error: the
	// log and the Observer get those, too. Default: the error is logged.
	WatchErrorHandler func(context.Context, error)

	// Observer sees each decision. Default: nobody does.
	Observer observer.Observer
}

// A Reflector lists and watches objects of one type, and makes the same changes to
// a store.
//
// What the store can rely on:
//   - The first call is Replace, with a list. The calls after it are the changes
//     after that list, in order, each once.
//   - When the watch may have missed a change, the next call is Replace again.
//     An event of another type, or one that the store refuses, is not missed: it is
//     reported and left out.
//   - All calls come from one goroutine, except for Resync.
//
// It ends when its context ends, whatever pause it makes, and leaves no watch open.
// A source that blocks is left behind in a LIST, and waited for in a WATCH: the
// watch that comes has to be stopped.
//
// It logs its decisions with the logger of its context, as client-go's does.
type Reflector struct {
	Options
	listerWatcher   cache.ListerWatcherWithContext
	expectedType    reflect.Type             // nil: any
	expectedGVK     *schema.GroupVersionKind // of unstructured objects; nil: any
	useWatchList    bool                     // lists are streamed, if the server can do it
	paginatedResult bool                     // the server answered the first LIST in pages: it has no watch cache

	// How long to wait after a failure, each time longer than the last. client-go's
	// has one for both. Then the list after an outage has to wait as long as the
	// watches had to, although no list has failed.
	listDelayHandler, watchDelayHandler wait.DelayFunc

	lastSyncResourceVersionMutex         sync.Mutex
	lastSyncResourceVersion              string // that the store is as of; empty before the first list
	isLastSyncResourceVersionUnavailable bool   // the server no longer has it, or does not have it yet
}

// The pauses and timeouts are client-go's. A reflector that asked once a second
// would keep a server down that is in trouble: with these pauses it sends a fiftieth
// of that.
const (
	defaultBackoffInit     = 800 * time.Millisecond
	defaultBackoffMax      = 30 * time.Second
	defaultBackoffReset    = 2 * time.Minute // so often the pauses begin anew: the server may be healthy again
	defaultMinWatchTimeout = 5 * time.Minute
)

// New returns a reflector that is ready to run.
func New(options Options) *Reflector {
	r := &Reflector{
		Options:       options,
		listerWatcher: cache.ToListerWatcherWithContext(options.ListerWatcher),
		useWatchList:  clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient),
	}
	if r.useWatchList && watchlist.DoesClientNotSupportWatchListSemantics(options.ListerWatcher) {
		klog.V(2).InfoS("The client used to build this informer/reflector doesn't support WatchList semantics. The "+
			"feature will be disabled. This is expected in unit tests but not in production.",
			"feature", clientfeatures.WatchListClient)
		r.useWatchList = false
	}
	r.MinWatchTimeout = max(r.MinWatchTimeout, defaultMinWatchTimeout)
	if r.Backoff == nil {
		r.Backoff = &wait.Backoff{Duration: defaultBackoffInit, Cap: defaultBackoffMax, Factor: 2, Jitter: 1,
			Steps: 38, // how often it may double; the cap comes first
		}
	}
	r.listDelayHandler = r.Backoff.DelayWithReset(clock.RealClock{}, defaultBackoffReset)
	r.watchDelayHandler = r.Backoff.DelayWithReset(clock.RealClock{}, defaultBackoffReset)
	if options.ExpectedType != nil {
		r.expectedType = reflect.TypeOf(options.ExpectedType)
	}
	if object, ok := options.ExpectedType.(*unstructured.Unstructured); ok {
		if gvk := object.GroupVersionKind(); !gvk.Empty() {
			r.expectedGVK = &gvk
		}
	}
	if r.TypeDescription == "" {
		r.TypeDescription = typeDescription(r.expectedType, r.expectedGVK)
	}
	if r.WatchErrorHandler == nil {
		r.WatchErrorHandler = r.logWatchError
	}
	return r
}

func typeDescription(expectedType reflect.Type, expectedGVK *schema.GroupVersionKind) string {
	switch {
	case expectedGVK != nil:
		return expectedGVK.String()
	case expectedType != nil:
		return expectedType.String()
	}
	return "<unspecified>"
}

// Run lists and watches until ctx ends.
func (r *Reflector) Run(ctx context.Context) {
	logger := r.logger(ctx)
	logger.V(3).Info("Starting reflector", "resyncPeriod", r.ResyncPeriod)
	defer logger.V(3).Info("Stopping reflector", "resyncPeriod", r.ResyncPeriod)
	for ctx.Err() == nil {
		err := r.ListAndWatch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.observeEnd(err)
			r.WatchErrorHandler(ctx, err)
		}
		r.backOff(ctx, r.listDelayHandler)
	}
}

// logWatchError is client-go's DefaultWatchErrorHandler: what happens to every watch
// in time is no error.
func (r *Reflector) logWatchError(ctx context.Context, err error) {
	switch {
	case isExpiredError(err):
		r.logger(ctx).V(4).Info("Watch closed", "err", err)
	case err == io.EOF: // it was closed as usual; not a list, whose error is a wrapped one
	case err == io.ErrUnexpectedEOF:
		r.logger(ctx).V(1).Info("Watch closed with unexpected EOF", "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "type", r.TypeDescription)
	}
}

// ListAndWatch fills the store with a list, and changes it as the watch says, until
// another list is needed. The error says why there was no list, or no watch. It is
// nil when a watch was there and has ended, or when ctx has ended before the list.
func (r *Reflector) ListAndWatch(ctx context.Context) error {
	// The list and the watch have one context, because they may be one request: when the program
	// ends, the error of that request comes no earlier than the end of the context.
	attempt, cancel := context.WithCancel(ctx)
	var resyncing sync.WaitGroup
	defer resyncing.Wait()
	defer cancel()
	logger := r.logger(ctx)
	logger.V(3).Info("Listing and watching")
	w, err := r.populate(attempt)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	logger.V(2).Info("Caches populated")
	resyncing.Go(func() {
		if err := r.startResync(attempt); err != nil {
			logger.Info("Warning: watch ended with error", "err", err)
			r.observeEnd(err)
			cancel() // the watch: the next thing is a list
		}
	})
	return r.watch(attempt, w)
}

// populate fills the store. A list that is streamed comes over a watch, which goes
// on after it: that is w. A stream is less work for the server, which needs no memory
// for the whole list. Where the server cannot do that, it is a LIST, and w is nil.
func (r *Reflector) populate(ctx context.Context) (w watch.Interface, err error) {
	if r.useWatchList {
		if w, err = r.watchList(ctx); err == nil || ctx.Err() != nil {
			return w, err
		}
		r.logger(ctx).V(4).Info("Data couldn't be fetched in watchlist mode. Falling back to regular list. This is "+
			"expected if watchlist is not supported or disabled in kube-apiserver.", "err", err)
		r.observeEnd(err)
	}
	return nil, r.list(ctx)
}

// startResync calls Resync of the store, period by period.
func (r *Reflector) startResync(ctx context.Context) error {
	if r.ResyncPeriod <= 0 {
		return nil
	}
	for {
		select {
		case <-time.After(r.ResyncPeriod):
		case <-ctx.Done():
			return nil
		}
		if r.ShouldResync == nil || r.ShouldResync() {
			r.logger(ctx).V(4).Info("Forcing resync")
			if err := r.Store.Resync(); err != nil {
				return fmt.Errorf("resyncing the store of %s: %w", r.TypeDescription, err)
			}
		}
	}
}

// LastSyncResourceVersion is the version that the store is as of. It is empty
// before the first list.
func (r *Reflector) LastSyncResourceVersion() string {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	return r.lastSyncResourceVersion
}

// setLastSyncResourceVersion records the version that the store is as of.
func (r *Reflector) setLastSyncResourceVersion(version string) {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	r.lastSyncResourceVersion = version
}

// setIsLastSyncResourceVersionUnavailable records whether the server has refused to
// list from the version that the store is as of.
func (r *Reflector) setIsLastSyncResourceVersionUnavailable(isUnavailable bool) {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	r.isLastSyncResourceVersionUnavailable = isUnavailable
}

// backOff sleeps for the next pause, or until ctx ends.
func (r *Reflector) backOff(ctx context.Context, delay wait.DelayFunc) {
	pause := delay()
	r.observe(observer.Event{Kind: observer.BackingOff, Took: pause})
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

func (r *Reflector) observe(event observer.Event) {
	if r.Observer != nil {
		r.Observer.Observe(event)
	}
}

// observeEnd reports the end of a list or a watch.
func (r *Reflector) observeEnd(err error) {
	kind := observer.Ended
	if isExpiredError(err) {
		kind = observer.Expired
	}
	r.observe(observer.Event{Kind: kind, Err: err})
}

func (r *Reflector) logger(ctx context.Context) klog.Logger {
	return klog.LoggerWithValues(klog.FromContext(ctx), "type", r.TypeDescription)
}
