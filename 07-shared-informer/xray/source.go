// The source of an informer: a ListerWatcher whose watches can be made to expire.

package xray

import (
	"context"
	"net/http"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// A Source is the ListerWatcher that it was made of, with one more thing that can
// happen to its watches: Expire.
type Source struct {
	from cache.ListerWatcherWithContext
	bare cache.ListerWatcher

	// These see what passes, if they are set: the answer to a list, and a watch; what
	// the second returns is called with each event of it, before that is handed on.
	listed   func(metav1.ListOptions, runtime.Object)
	watching func(metav1.ListOptions) func(watch.Event)

	mu   sync.Mutex
	open map[*sourceWatch]bool
}

var _ cache.ListerWatcherWithContext = (*Source)(nil)

// NewSource returns a source of what lw lists and watches.
func NewSource(lw cache.ListerWatcher) *Source {
	return &Source{from: cache.ToListerWatcherWithContext(lw), bare: lw, open: map[*sourceWatch]bool{}}
}

// IsWatchListSemanticsUnSupported is asked by reflectors before they stream a list.
func (s *Source) IsWatchListSemanticsUnSupported() bool {
	return watchlist.DoesClientNotSupportWatchListSemantics(s.bare)
}

// List implements cache.ListerWatcher.
func (s *Source) List(options metav1.ListOptions) (runtime.Object, error) {
	return s.ListWithContext(context.Background(), options)
}

// Watch implements cache.ListerWatcher.
func (s *Source) Watch(options metav1.ListOptions) (watch.Interface, error) {
	return s.WatchWithContext(context.Background(), options)
}

// ListWithContext implements cache.ListerWatcherWithContext.
func (s *Source) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := s.from.ListWithContext(ctx, options)
	if err == nil && s.listed != nil {
		s.listed(options, list)
	}
	return list, err
}

// WatchWithContext implements cache.ListerWatcherWithContext.
func (s *Source) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	inner, err := s.from.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	w := &sourceWatch{
		inner: inner, out: make(chan watch.Event), expired: make(chan struct{}), stopped: make(chan struct{}),
	}
	s.mu.Lock()
	s.open[w] = true
	s.mu.Unlock()
	seen := func(watch.Event) {}
	if s.watching != nil {
		seen = s.watching(options)
	}
	go func() {
		w.carry(seen)
		s.mu.Lock()
		delete(s.open, w)
		s.mu.Unlock()
	}()
	return w, nil
}

// Expire ends the open watches as a server does that no longer has their version,
// and says how many there were.
func (s *Source) Expire() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	ended := len(s.open)
	for w := range s.open {
		close(w.expired)
		delete(s.open, w)
	}
	return ended
}

// A sourceWatch hands on the events of another watch.
type sourceWatch struct {
	inner   watch.Interface
	out     chan watch.Event
	expired chan struct{} // closed by Expire
	stopped chan struct{} // closed by Stop
	once    sync.Once
}

// carry returns when one of the three has ended the watch.
func (w *sourceWatch) carry(seen func(watch.Event)) {
	defer close(w.out)
	defer w.inner.Stop()
	for {
		select {
		case event, ok := <-w.inner.ResultChan():
			if !ok {
				return
			}
			seen(event)
			if !w.send(event) {
				return
			}
		case <-w.expired:
			w.send(watch.Event{Type: watch.Error, Object: &metav1.Status{
				Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
				Message: "too old resource version: made to expire here",
			}})
			return
		case <-w.stopped:
			return
		}
	}
}

func (w *sourceWatch) send(event watch.Event) bool {
	select {
	case w.out <- event:
		return true
	case <-w.stopped:
		return false
	}
}

func (w *sourceWatch) Stop()                          { w.once.Do(func() { close(w.stopped) }) }
func (w *sourceWatch) ResultChan() <-chan watch.Event { return w.out }
