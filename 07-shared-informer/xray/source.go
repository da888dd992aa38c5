// The source of an informer: a ListerWatcher whose watches can be made to expire.

package xray

import (
	"context"
	"net/http"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"

	"example.com/informer/03-reflector/observer"
)

// A Source lists and watches what another ListerWatcher does, and one more thing can
// happen to its watches: Expire.
type Source struct {
	*cache.ListWatch
	from     cache.ListerWatcherWithContext
	plain    bool              // it does not stream lists
	observer observer.Observer // of what passes, on its way to client-go's informer; else nil

	mu   sync.Mutex
	open map[chan struct{}]bool // one for each watch, closed by Expire
}

// NewSource returns a source of what lw lists and watches.
func NewSource(lw cache.ListerWatcher) *Source {
	s := &Source{
		from: cache.ToListerWatcherWithContext(lw), open: map[chan struct{}]bool{},
		plain: watchlist.DoesClientNotSupportWatchListSemantics(lw),
	}
	s.ListWatch = &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	return s
}

// IsWatchListSemanticsUnSupported is asked by reflectors before they stream a list.
func (s *Source) IsWatchListSemanticsUnSupported() bool { return s.plain }

// list has the observer see a list as it sees the beginning of a watch that streams one.
func (s *Source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := s.from.ListWithContext(ctx, options)
	if err != nil || s.observer == nil {
		return list, err
	}
	if options.Continue == "" {
		s.observer.Observe(observer.Event{Kind: observer.Listing})
	}
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		s.observe(watch.Event{Type: watch.Added, Object: obj}, true)
		return nil
	})
	if about, failed := meta.ListAccessor(list); failed == nil && about.GetContinue() == "" {
		s.observer.Observe(observer.Event{Kind: observer.Listed})
	}
	return list, err
}

func (s *Source) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	from, err := s.from.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	initial := options.SendInitialEvents != nil && *options.SendInitialEvents
	if initial && s.observer != nil {
		s.observer.Observe(observer.Event{Kind: observer.Listing})
	}
	events, expired := make(chan watch.Event), make(chan struct{})
	to := watch.NewProxyWatcher(events)
	s.mu.Lock()
	s.open[expired] = true
	s.mu.Unlock()
	go func() { // it hands on events until one side ends the watch, or it expires
		defer func() {
			from.Stop()
			close(events)
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.open, expired)
		}()
		for ok, event := true, (watch.Event{}); ok && event.Type != watch.Error; {
			select {
			case event, ok = <-from.ResultChan():
				initial = s.observe(event, initial)
			case <-expired:
				event = watch.Event{Type: watch.Error, Object: &tooOld}
			case <-to.StopChan():
				return
			}
			if ok {
				select {
				case events <- event:
				case <-to.StopChan():
				}
			}
		}
	}()
	return to, nil
}

var tooOld = metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
	Message: "too old resource version: made to expire here",
}

// observe shows an event to the observer. It returns whether the initial list goes on.
func (s *Source) observe(event watch.Event, initial bool) bool {
	about, err := meta.Accessor(event.Object)
	switch {
	case s.observer == nil || err != nil: // an error is the server's reason to end the watch
	case event.Type != watch.Bookmark:
		s.observer.Observe(observer.Event{Kind: observer.Received, Type: string(event.Type), Key: keyOf(event.Object),
			New: event.Object, Initial: initial})
	case initial && about.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
		s.observer.Observe(observer.Event{Kind: observer.Listed})
		return false
	}
	return initial
}

func keyOf(obj any) string {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	return key
}

// Expire ends the open watches as a server does that no longer has their version,
// and returns how many there were.
func (s *Source) Expire() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := len(s.open)
	for expired := range s.open {
		close(expired)
		delete(s.open, expired)
	}
	return ended
}
