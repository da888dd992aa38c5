// The source of an informer: a ListerWatcher whose watch can be made to expire.

package xray

import (
	"context"
	"io"
	"net/http"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"example.com/informer/03-reflector/observer"
)

// A Source lists and watches what another ListerWatcher does, for one reflector, and one
// more thing can happen to its watch: Expire.
type Source struct {
	*cache.ListWatch
	from     cache.ListerWatcherWithContext
	plain    bool              // it does not stream lists
	observer observer.Observer // of what passes
	open     atomic.Pointer[passage]
}

// NewSource returns a source of what lw lists and watches.
func NewSource(lw cache.ListerWatcher) *Source {
	s := &Source{
		from:     cache.ToListerWatcherWithContext(lw),
		plain:    watchlist.DoesClientNotSupportWatchListSemantics(lw),
		observer: observer.Func(func(observer.Event) {}), // another one on the way to client-go's informer
	}
	s.ListWatch = &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	return s
}

// IsWatchListSemanticsUnSupported is asked by reflectors before they stream a list.
func (s *Source) IsWatchListSemanticsUnSupported() bool { return s.plain }

// list has the observer see a list as it sees the beginning of a watch that streams one.
func (s *Source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := s.from.ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if options.Continue == "" {
		s.observer.Observe(observer.Event{Kind: observer.Listing})
	}
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		s.received(watch.Event{Type: watch.Added, Object: obj}, true)
		return nil
	})
	if about, failed := meta.ListAccessor(list); failed == nil && about.GetContinue() == "" {
		s.observer.Observe(observer.Event{Kind: observer.Listed})
	}
	return list, err
}

func (s *Source) received(e watch.Event, initial bool) {
	s.observer.Observe(observer.Event{Kind: observer.Received, Type: string(e.Type), Key: keyOf(e.Object),
		New: e.Object, Initial: initial})
}

func keyOf(obj any) string {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	return key
}

func (s *Source) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	from, err := s.from.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	p := &passage{Interface: from, source: s}
	if p.initial = options.SendInitialEvents != nil && *options.SendInitialEvents; p.initial {
		s.observer.Observe(observer.Event{Kind: observer.Listing})
	}
	s.open.Store(p)
	return watch.NewStreamWatcher(p, nil), nil
}

// Expire ends the open watch as a server does that no longer has its version. It is false
// if there is none.
func (s *Source) Expire() bool {
	p := s.open.Swap(nil)
	if p != nil {
		p.expired.Store(true)
		p.Stop()
	}
	return p != nil
}

// A passage is a watch whose events the observer sees: a watch.Decoder.
type passage struct {
	watch.Interface
	source  *Source
	initial bool // the initial list goes on
	expired atomic.Bool
}

var tooOld = metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
	Message: "too old resource version: made to expire here",
}

// Decode waits for an event, or for the end.
func (p *passage) Decode() (watch.EventType, runtime.Object, error) {
	event, ok := <-p.ResultChan()
	about, err := meta.Accessor(event.Object)
	switch {
	case p.expired.Swap(false): // a client may report its end as an error
		return watch.Error, &tooOld, nil
	case !ok:
		return "", nil, io.EOF
	case err != nil: // the server's reason to end the watch
	case event.Type != watch.Bookmark:
		p.source.received(event, p.initial)
	case p.initial && about.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
		p.initial = false
		p.source.observer.Observe(observer.Event{Kind: observer.Listed})
	}
	return event.Type, event.Object, nil
}

// Close ends the watch.
func (p *passage) Close() {
	p.Stop()
	p.source.open.CompareAndSwap(p, nil)
}
