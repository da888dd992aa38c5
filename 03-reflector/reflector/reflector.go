// Package reflector keeps a store up to date with a server: it lists and watches. When the watch
// ends, it watches or lists again.
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
	ListerWatcher cache.ListerWatcher  // lists and watches the objects
	Store         cache.ReflectorStore // gets the objects and their changes

	// ExpectedType is an object of the type that the watch sends. The reflector reports an object
	// of another type, and leaves it out. For *unstructured.Unstructured, the kind must be the
	// same, too. Default: all types are accepted.
	ExpectedType runtime.Object

	// TypeDescription describes the type in errors and logs. Default: the type of ExpectedType.
	TypeDescription string

	// ResyncPeriod is the time between two calls of the store's Resync. Default: Resync is never
	// called.
	ResyncPeriod time.Duration

	// ShouldResync is called before each Resync, and decides whether to resync. Default: it always
	// resyncs.
	ShouldResync func() bool

	// WatchListPageSize is the number of objects in a page of a LIST. If the watch cache of a
	// server does not have the version of the pages, the server reads them from etcd, which is
	// slow. Default: 500, but no pages for a LIST that the server can answer from its watch cache
	// only without pages.
	WatchListPageSize int64

	// MinWatchTimeout is the shortest time after which the server is asked to end a watch. The time
	// is random, up to twice as long. Default, and minimum: five minutes, because short watches are
	// much work for a server.
	MinWatchTimeout time.Duration

	// Backoff says how the pauses after failures grow. Default: as in client-go, from about a
	// second to about a minute.
	Backoff *wait.Backoff

	// WatchErrorHandler is called when a list failed, or when a watch could not be opened, before
	// the reflector tries again. It is not called when the server refuses a watch (connection
	// refused, 429), and not when an open watch ends with an error. The log and the Observer get
	// all of these errors. Default: the error is logged.
	WatchErrorHandler func(context.Context, error)

	// Observer gets an event for each decision. Default: there is no observer.
	Observer observer.Observer
}

// A Reflector lists and watches objects of one type, and makes the same changes to a store.
//
// What the store can rely on:
//   - The first call is Replace, with a list. The calls after it are the changes after that list,
//     in order, each once.
//   - When the watch may have missed a change, the next call is Replace again. This does not happen
//     for an event with an object of another type, or for an event that the store refuses: the
//     reflector reports such an event and leaves it out.
//   - All calls come from one goroutine, except for Resync.
//
// A reflector ends when its context ends, even in the middle of a pause, and leaves no watch open.
// If its ListerWatcher ignores the context, the reflector does not wait for a LIST. It does wait
// for a WATCH, because it has to stop the watch.
//
// It logs its decisions with the logger of its context, as client-go's reflector does.
type Reflector struct {
	Options
	listerWatcher   cache.ListerWatcherWithContext
	expectedType    reflect.Type             // nil: any type
	expectedGVK     *schema.GroupVersionKind // of unstructured objects; nil: any kind
	useWatchList    bool                     // lists are streamed, if the server supports it
	paginatedResult bool                     // the first list came in pages: no watch cache was ready

	// The delays after failures of lists, and of watches. Each delay is longer than the one before
	// it. client-go has one handler for both. There, after an outage, the delay of the watches
	// delays the next list, too, although no list has failed.
	listDelayHandler, watchDelayHandler wait.DelayFunc

	// lastSyncResourceVersionMutex guards the two fields below.
	lastSyncResourceVersionMutex         sync.Mutex
	lastSyncResourceVersion              string // the version of the store; empty before the first list
	isLastSyncResourceVersionUnavailable bool   // the server does not have it any more, or does not have it yet
}

// The pauses and timeouts are client-go's. If every reflector sent a request once a second, a
// server in trouble could not recover. With these pauses, a reflector sends a fiftieth of these
// requests.
const (
	defaultBackoffInit     = 800 * time.Millisecond
	defaultBackoffMax      = 30 * time.Second
	defaultBackoffReset    = 2 * time.Minute // after this time, pauses begin with the shortest one again
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
		r.Backoff = &wait.Backoff{
			Duration: defaultBackoffInit,
			Cap:      defaultBackoffMax,
			Factor:   2,
			Jitter:   1,
			Steps:    38, // how often the pause may double; it reaches the cap earlier
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

// typeDescription describes the expected type for errors and logs.
func typeDescription(expectedType reflect.Type, expectedGVK *schema.GroupVersionKind) string {
	switch {
	case expectedGVK != nil:
		return expectedGVK.String()
	case expectedType != nil:
		return expectedType.String()
	}
	return "<unspecified>"
}

// Run lists and watches until ctx ends. If a LIST ignores the end of ctx, Run leaves it behind and
// drops its answer. The goroutine of a watch belongs to the client: Run stops
// the watch, and nothing says when that goroutine has returned.
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

// logWatchError does the same as client-go's DefaultWatchErrorHandler. It does not log the normal
// end of a watch as an error.
func (r *Reflector) logWatchError(ctx context.Context, err error) {
	switch {
	case isExpiredError(err):
		r.logger(ctx).V(4).Info("Watch closed", "err", err)
	case err == io.EOF: // a watch was closed normally; the error of a list would be wrapped
	case err == io.ErrUnexpectedEOF:
		r.logger(ctx).V(1).Info("Watch closed with unexpected EOF", "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Failed to watch", "type", r.TypeDescription)
	}
}

// ListAndWatch fills the store with a list. Then it applies the events of the watch to the store,
// until another list is needed. It returns an error if the list failed, or if the watch could not
// be opened. It returns nil if an open watch has ended, or if ctx has ended before the list. When
// it returns, no Resync runs.
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
	if err != nil && ctx.Err() != nil {
		return nil
	}
	if err != nil {
		return err
	}
	logger.V(2).Info("Caches populated")
	resyncing.Go(func() {
		if err := r.startResync(attempt); err != nil {
			logger.Info("Warning: watch ended with error", "err", err)
			r.observeEnd(err)
			cancel() // ends the watch; a list follows
		}
	})
	return r.watch(attempt, w)
}

// populate fills the store. A streamed list comes over a watch, and populate returns this watch,
// because the changes come over it, too. A stream is less work for the server, which does not need
// memory for the whole list. If the server does not support it, populate sends a LIST, and the
// watch is nil.
func (r *Reflector) populate(ctx context.Context) (watch.Interface, error) {
	if r.useWatchList {
		w, err := r.watchList(ctx)
		if err == nil || ctx.Err() != nil {
			return w, err
		}
		r.logger(ctx).V(4).Info("Data couldn't be fetched in watchlist mode. Falling back to regular list. This is "+
			"expected if watchlist is not supported or disabled in kube-apiserver.", "err", err)
		r.observeEnd(err)
	}
	return nil, r.list(ctx)
}

// startResync calls Resync of the store after each period.
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
		if r.ShouldResync != nil && !r.ShouldResync() {
			continue
		}
		r.logger(ctx).V(4).Info("Forcing resync")
		if err := r.Store.Resync(); err != nil {
			return fmt.Errorf("resyncing the store of %s: %w", r.TypeDescription, err)
		}
	}
}

// LastSyncResourceVersion returns the version of the last list or event that the store got. It is
// empty before the first list.
func (r *Reflector) LastSyncResourceVersion() string {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	return r.lastSyncResourceVersion
}

// setLastSyncResourceVersion records the version of the store.
func (r *Reflector) setLastSyncResourceVersion(version string) {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	r.lastSyncResourceVersion = version
}

// setIsLastSyncResourceVersionUnavailable records whether the server has refused to list from the
// version of the store.
func (r *Reflector) setIsLastSyncResourceVersionUnavailable(isUnavailable bool) {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	r.isLastSyncResourceVersionUnavailable = isUnavailable
}

// backOff sleeps for the next pause, or until ctx ends.
func (r *Reflector) backOff(ctx context.Context, delay wait.DelayFunc) {
	pause := delay()
	r.observe(observer.BackingOff{Pause: pause})
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

func (r *Reflector) observe(event any) {
	if r.Observer != nil {
		r.Observer.Observe(event)
	}
}

// observeEnd reports the end of a list or a watch.
func (r *Reflector) observeEnd(err error) {
	if isExpiredError(err) {
		r.observe(observer.Expired{Err: err})
		return
	}
	r.observe(observer.Ended{Err: err})
}

func (r *Reflector) logger(ctx context.Context) klog.Logger {
	return klog.LoggerWithValues(klog.FromContext(ctx), "type", r.TypeDescription)
}
