// Watching: one change after the other.

package reflector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"

	"example.com/informer/03-reflector/observer"
)

// watch changes the store as a watch says: w, if the list has come over it. When the
// watch ends, it opens another one where the first has ended. It returns when only a
// list can help, with an error if the server did not take the watch.
func (r *Reflector) watch(ctx context.Context, w watch.Interface) error {
	if w != nil {
		if err := r.handleWatch(ctx, time.Now(), w, true); !r.watchAgain(ctx, err) {
			return nil
		}
	}
	for ctx.Err() == nil {
		from := r.LastSyncResourceVersion()
		r.observe(observer.Event{Kind: observer.Watching, Version: from})
		start := time.Now() // some proxies send not even the headers before the first event
		w, err := r.listerWatcher.WatchWithContext(ctx, metav1.ListOptions{
			ResourceVersion:     from,
			AllowWatchBookmarks: true, // the next watch then begins closer to the present
			TimeoutSeconds:      r.timeoutSeconds(),
		})
		if isWatchErrorRetriable(err) {
			r.logger(ctx).V(4).Info("Watch failed - backing off", "err", err)
			r.observeEnd(err)
			r.backOff(ctx, r.watchDelayHandler)
			continue
		}
		if err != nil {
			return err
		}
		// A watch from no version first sends all objects, as ADDED, in no order: their
		// versions do not say how far the watch is.
		propagateRVFromStart := from != "" && from != "0"
		if err := r.handleWatch(ctx, start, w, propagateRVFromStart); !r.watchAgain(ctx, err) {
			return nil
		}
	}
	return nil
}

// timeoutSeconds is when the server is asked to end a watch: a watch whose connection
// is dead without a sign would hang forever. It is random, so that the watches that
// were all opened when a server was started do not all end, and begin again, at once.
func (r *Reflector) timeoutSeconds() *int64 {
	return ptr.To(int64(r.MinWatchTimeout.Seconds() * (1 + rand.Float64())))
}

// watchAgain decides, when a watch has ended, whether another watch can go on where it
// was, or a list is needed.
func (r *Reflector) watchAgain(ctx context.Context, err error) bool {
	logger := r.logger(ctx)
	again := false
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil:
		again = true
	case isExpiredError(err):
		// The version is too old for a watch, but not for a list, which is never older
		// than it: isLastSyncResourceVersionUnavailable stays as it is.
		logger.V(4).Info("Watch closed", "err", err)
	case apierrors.IsTooManyRequests(err):
		again = true
		logger.V(2).Info("Watch returned 429 - backing off")
	default:
		logger.Info("Warning: watch ended with error", "err", err)
	}
	r.observeEnd(err)
	if again && err != nil {
		r.backOff(ctx, r.watchDelayHandler)
	}
	return again
}

// handleWatch makes the changes of a watch to the store until the watch ends, and
// stops it.
func (r *Reflector) handleWatch(ctx context.Context, start time.Time, w watch.Interface,
	propagateRVFromStart bool) error {
	defer w.Stop() // even if the store panics: the caller may recover
	h := watchHandler{Reflector: r, store: r.Store, start: start, propagateRVFromStart: propagateRVFromStart,
		setLastSyncResourceVersion: func(version string) {
			r.setLastSyncResourceVersion(version)
			if updater, ok := r.Store.(cache.ResourceVersionUpdater); ok {
				updater.UpdateResourceVersion(version)
			}
		}}
	return h.handleAnyWatch(ctx, w)
}

// A watchHandler is what becomes of the events of one watch.
type watchHandler struct {
	*Reflector
	store interface {
		Add(obj any) error
		Update(obj any) error
		Delete(obj any) error
	}
	start                           time.Time
	propagateRVFromStart            bool // the versions of all events count
	exitOnWatchListBookmarkReceived bool // the watch begins with a list: stop at its end
	setLastSyncResourceVersion      func(version string)

	// What has come.
	watchListBookmarkReceived bool // the end of the list that the watch began with
	eventReceivedBesidesAdded bool // an event that is no part of that list: from then on versions count
	eventCount                int
	lastEventObserveTime      time.Time
}

// handleAnyWatch takes events until the watch ends, or what it was waiting for has
// come.
func (h *watchHandler) handleAnyWatch(ctx context.Context, w watch.Interface) error {
	logger := h.logger(ctx)
	tick, stop := h.initialEventsEndBookmarkTicker()
	defer stop()
	for !h.exitOnWatchListBookmarkReceived || !h.watchListBookmarkReceived {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick:
			h.warnIfExpired(ctx)
		case event, ok := <-w.ResultChan():
			if !ok {
				if h.eventCount == 0 && time.Since(h.start) < time.Second {
					return &cache.VeryShortWatchError{Name: h.TypeDescription}
				}
				logger.V(4).Info("Watch close", "totalItems", h.eventCount)
				return nil
			}
			if event.Type == watch.Error {
				return apierrors.FromObject(event.Object)
			}
			h.handleEvent(ctx, event)
		}
	}
	logger.V(4).Info("Exiting watch because received the bookmark that marks the end of initial events stream",
		"totalItems", h.eventCount, "duration", time.Since(h.start))
	return nil
}

// handleEvent makes the change of one event. What cannot be understood or stored is
// reported, and left out: another list would bring it again.
func (h *watchHandler) handleEvent(ctx context.Context, event watch.Event) {
	if h.expectedType != nil && reflect.TypeOf(event.Object) != h.expectedType {
		h.leaveOut(ctx, event, nil, "Unexpected watch event object type",
			"expectedType", h.expectedType, "actualType", reflect.TypeOf(event.Object))
		return
	}
	object, err := meta.Accessor(event.Object)
	if err != nil { // or there is no object
		h.leaveOut(ctx, event, err, "Unable to understand watch event", "event", event)
		return
	}
	gvk := event.Object.GetObjectKind().GroupVersionKind()
	if h.expectedGVK != nil && gvk != *h.expectedGVK {
		h.leaveOut(ctx, event, nil, "Unexpected watch event object gvk",
			"expectedGVK", *h.expectedGVK, "actualGVK", gvk)
		return
	}
	if isUnsupportedTableObject(event.Object) {
		h.leaveOut(ctx, event, nil, "Unsupported watch event object gvk", "actualGVK", gvk)
		return
	}
	if err := h.changeStore(event, object); err != nil {
		h.leaveOut(ctx, event, err, cmp.Or(refusedByStore[event.Type], "Unknown watch event"), "object", event.Object)
	}
	h.eventReceivedBesidesAdded = h.eventReceivedBesidesAdded || event.Type != watch.Added
	if h.propagateRVFromStart || h.eventReceivedBesidesAdded {
		h.setLastSyncResourceVersion(object.GetResourceVersion())
	}
	h.eventCount++
	if h.exitOnWatchListBookmarkReceived {
		h.lastEventObserveTime = time.Now()
	}
}

// leaveOut reports an event that is left out, to the log and to the observer.
func (h *watchHandler) leaveOut(ctx context.Context, event watch.Event, err error, text string, keysAndValues ...any) {
	utilruntime.HandleErrorWithContext(ctx, err, text, append([]any{"type", h.TypeDescription}, keysAndValues...)...)
	reason := errors.New(text)
	if err != nil {
		reason = fmt.Errorf("%s: %w", text, err)
	}
	h.observe(observer.Event{Kind: observer.LeftOut, Type: string(event.Type), New: event.Object, Err: reason})
}

// refusedByStore is what is reported, in client-go's words, when the store refuses an
// event.
var refusedByStore = map[watch.EventType]string{
	watch.Added:    "Unable to add watch event object to store",
	watch.Modified: "Unable to update watch event object to store",
	watch.Deleted:  "Unable to delete watch event object from store",
	watch.Bookmark: "Unable to send bookmark event to store",
}

// changeStore does to the store what an event says.
func (h *watchHandler) changeStore(event watch.Event, object metav1.Object) error {
	if h.Observer != nil && !h.exitOnWatchListBookmarkReceived { // what comes before the end is a list
		h.observeEvent(event, object)
	}
	switch event.Type {
	case watch.Added:
		return h.store.Add(event.Object)
	case watch.Modified:
		return h.store.Update(event.Object)
	case watch.Deleted:
		return h.store.Delete(event.Object)
	case watch.Bookmark:
		if object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			h.watchListBookmarkReceived = true
		}
		if store, ok := h.store.(cache.ReflectorBookmarkStore); ok {
			return store.Bookmark(object.GetResourceVersion())
		}
		return nil
	default:
		return fmt.Errorf("it is neither an event of the store nor a bookmark: %s", event.Type)
	}
}

func (h *watchHandler) observeEvent(event watch.Event, object metav1.Object) {
	if event.Type == watch.Bookmark {
		h.observe(observer.Event{Kind: observer.Bookmark, Version: object.GetResourceVersion()})
		return
	}
	h.observe(observer.Event{Kind: observer.Received, Type: string(event.Type), New: event.Object,
		Key:     cache.NewObjectName(object.GetNamespace(), object.GetName()).String(),
		Version: object.GetResourceVersion()})
}
