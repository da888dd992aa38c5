// The source of an informer: a ListerWatcher whose watch can be made to expire.

package server

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
	"example.com/informer/docs/xray/recorder"
)

// A Source lists and watches for one reflector. It passes on what another ListerWatcher returns,
// and Expire can end its watch.
type Source struct {
	*cache.ListWatch
	underlying cache.ListerWatcherWithContext
	plainLists bool              // it cannot stream a list over a watch
	observer   observer.Observer // of the objects and events that pass; it does nothing for our informer
	openWatch  atomic.Pointer[observedWatch]
	queue      *recorder.ObservedQueue // of the reflector; nil if its informer has none of ours
}

// NewSource returns a source that lists and watches with lw.
func NewSource(lw cache.ListerWatcher) *Source {
	s := &Source{
		underlying: cache.ToListerWatcherWithContext(lw),
		plainLists: watchlist.DoesClientNotSupportWatchListSemantics(lw),
		observer:   observer.Func(func(any) {}),
	}
	s.ListWatch = &cache.ListWatch{ListWithContextFunc: s.list, WatchFuncWithContext: s.watch}
	return s
}

// IsWatchListSemanticsUnSupported tells a reflector whether it can stream a list over the watch.
func (s *Source) IsWatchListSemanticsUnSupported() bool { return s.plainLists }

// list reports a list to the observer in the same way as a watch that streams a list: Listing
// before its first page, ListReceived for each object, Listed after its last page.
func (s *Source) list(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	list, err := s.underlying.ListWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	if options.Continue == "" {
		s.observer.Observe(observer.Listing{})
	}
	err = meta.EachListItem(list, func(obj runtime.Object) error {
		s.observer.Observe(recorder.ListReceived{Key: keyOf(obj), Object: obj})
		return nil
	})
	if accessor, accessErr := meta.ListAccessor(list); accessErr == nil && accessor.GetContinue() == "" {
		s.observer.Observe(observer.Listed{})
	}
	return list, err
}

// keyOf returns the key of an object or of a tombstone, and "" if it has none.
func keyOf(obj any) string {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	return key
}

func (s *Source) watch(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	watched, err := s.underlying.WatchWithContext(ctx, options)
	if err != nil {
		return nil, err
	}
	w := &observedWatch{Interface: watched, source: s}
	if options.SendInitialEvents != nil && *options.SendInitialEvents {
		w.inInitialList = true
		s.observer.Observe(observer.Listing{})
	}
	s.openWatch.Store(w)
	return watch.NewStreamWatcher(w, nil), nil
}

// Expire ends the open watch with the error that a server sends if it no longer has the version. It
// returns false if no watch is open.
func (s *Source) Expire() bool {
	w := s.openWatch.Swap(nil)
	if w == nil {
		return false
	}
	w.expired.Store(true)
	w.Stop()
	return true
}

// An observedWatch is a watch whose events the observer of the source gets. It is the watch.Decoder
// of a StreamWatcher.
type observedWatch struct {
	watch.Interface
	source        *Source
	inInitialList bool        // the initial list is streamed, and not complete yet
	expired       atomic.Bool // the next event is statusExpired
}

var statusExpired = metav1.Status{
	Status: metav1.StatusFailure, Code: http.StatusGone, Reason: metav1.StatusReasonExpired,
	Message: "too old resource version: made to expire here",
}

// Decode waits for the next event, or for the end of the watch.
func (w *observedWatch) Decode() (watch.EventType, runtime.Object, error) {
	event, ok := <-w.ResultChan()
	if w.expired.Swap(false) { // first, because the stopped watch may end with an error event of its own
		return watch.Error, &statusExpired, nil
	}
	if !ok {
		return "", nil, io.EOF
	}
	w.observe(event)
	return event.Type, event.Object, nil
}

// observe reports an event to the observer. A bookmark is not reported, but the bookmark at the end
// of the initial list is reported as Listed.
func (w *observedWatch) observe(event watch.Event) {
	accessor, err := meta.Accessor(event.Object)
	switch {
	case err != nil: // a Status: why the server ends the watch
	case event.Type != watch.Bookmark && w.inInitialList:
		w.source.observer.Observe(recorder.ListReceived{Key: keyOf(event.Object), Object: event.Object})
	case event.Type != watch.Bookmark:
		w.source.observer.Observe(
			observer.Received{Type: event.Type, Key: keyOf(event.Object), Object: event.Object})
	case w.inInitialList && accessor.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true":
		w.inInitialList = false
		w.source.observer.Observe(observer.Listed{})
	}
}

// Close implements watch.Decoder: it ends the watch.
func (w *observedWatch) Close() {
	w.Stop()
	w.source.openWatch.CompareAndSwap(w, nil)
}
