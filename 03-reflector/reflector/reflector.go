// Package reflector keeps a store in step with a server: it lists, watches, and
// begins again when either of the two ends.
package reflector

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientfeatures "k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
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

	// TypeDescription is what errors call the type. Default: that of ExpectedType.
	TypeDescription string

	// ResyncPeriod is how often Resync of the store is called. Default: never.
	ResyncPeriod time.Duration

	// ShouldResync is asked before each Resync. Default: yes.
	ShouldResync func() bool

	// PageSize is how many objects a page of a LIST has. Default: 500, and no pages
	// where those might keep the server from answering out of its watch cache.
	PageSize int64

	// MinWatchTimeout is the least time after which the server is asked to end a
	// watch. The time is random, up to twice as long. Default: five minutes. Less
	// counts as five minutes: short watches are much work for a server.
	MinWatchTimeout time.Duration

	// Backoff is how the pauses after failures grow. Default: client-go's, from about
	// a second to about a minute.
	Backoff *wait.Backoff

	// OnError is called when there was no list, or no watch could be opened, before
	// it is tried again. It is not called while the server refuses connections or has
	// too much to do (429), and not when an open watch ends with an error: the Observer
	// sees those, too. Default: nobody gets the error.
	OnError func(context.Context, error)

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
type Reflector struct {
	Options
	source   cache.ListerWatcherWithContext
	expected reflect.Type             // nil: any
	kind     *schema.GroupVersionKind // of unstructured objects; nil: any
	streams  bool                     // the source can stream a list
	pages    bool                     // the server answered the first list in pages: it has no watch cache

	listPause, watchPause wait.DelayFunc // how long to wait after a failure; each longer than the last

	mu      sync.Mutex
	version string // that the store is as of; empty before the first list
	gone    bool   // the server no longer has that version, or does not have it yet
}

// The pauses and timeouts are client-go's.
const (
	shortestPause   = 800 * time.Millisecond
	longestPause    = 30 * time.Second
	anewAfter       = 2 * time.Minute // the next pause is short again, whatever has happened
	minWatchTimeout = 5 * time.Minute
)

// New returns a reflector that is ready to run.
func New(options Options) *Reflector {
	r := &Reflector{
		Options: options,
		source:  cache.ToListerWatcherWithContext(options.ListerWatcher),
		streams: clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient) &&
			!watchlist.DoesClientNotSupportWatchListSemantics(options.ListerWatcher),
	}
	r.MinWatchTimeout = max(r.MinWatchTimeout, minWatchTimeout)
	if r.Backoff == nil {
		r.Backoff = &wait.Backoff{Duration: shortestPause, Cap: longestPause, Factor: 2, Jitter: 1,
			Steps: 38, // how often it may double; the cap comes first
		}
	}
	r.listPause = r.Backoff.DelayWithReset(clock.RealClock{}, anewAfter)
	r.watchPause = r.Backoff.DelayWithReset(clock.RealClock{}, anewAfter)
	if options.ExpectedType != nil {
		r.expected = reflect.TypeOf(options.ExpectedType)
	}
	if object, ok := options.ExpectedType.(*unstructured.Unstructured); ok {
		if kind := object.GroupVersionKind(); !kind.Empty() {
			r.kind = &kind
		}
	}
	if r.TypeDescription == "" {
		r.TypeDescription = describe(r.expected, r.kind)
	}
	return r
}

func describe(expected reflect.Type, kind *schema.GroupVersionKind) string {
	switch {
	case kind != nil:
		return kind.String()
	case expected != nil:
		return expected.String()
	}
	return "<unspecified>"
}

// Run lists and watches until ctx ends.
func (r *Reflector) Run(ctx context.Context) {
	for ctx.Err() == nil {
		err := r.ListAndWatch(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			r.observe(observer.Event{Kind: observer.Ended, Err: err})
			if r.OnError != nil {
				r.OnError(ctx, err)
			}
		}
		r.wait(ctx, r.listPause())
	}
}

// ListAndWatch fills the store with a list, and changes it as the watch says, until
// another list is needed. The error says why there was no list, or no watch. It is
// nil when a watch was there and has ended, or when ctx has ended before the list.
func (r *Reflector) ListAndWatch(ctx context.Context) error {
	w, err := r.list(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil
	case err != nil:
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var resyncing sync.WaitGroup
	resyncing.Go(func() {
		if err := r.resync(ctx); err != nil {
			r.observe(observer.Event{Kind: observer.Ended, Err: err})
			cancel() // the watch: the next thing is a list
		}
	})
	defer resyncing.Wait()
	defer cancel()
	return r.watch(ctx, w)
}

// resync calls Resync of the store, period by period.
func (r *Reflector) resync(ctx context.Context) error {
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
			if err := r.Store.Resync(); err != nil {
				return fmt.Errorf("resyncing the store of %s: %w", r.TypeDescription, err)
			}
		}
	}
}

// LastSyncResourceVersion is the version that the store is as of. It is empty
// before the first list.
func (r *Reflector) LastSyncResourceVersion() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.version
}

// reached says that the store is as of a version.
func (r *Reflector) reached(version string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.version = version
}

// setGone says whether the server can list from the version that was reached.
func (r *Reflector) setGone(gone bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gone = gone
}

// wait waits, or until ctx ends.
func (r *Reflector) wait(ctx context.Context, pause time.Duration) {
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
