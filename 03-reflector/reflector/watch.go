// Watching: the reflector opens watches, and makes their changes to the store.

package reflector

import (
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

// watch applies the events of watches to the store. If the list was streamed, w is its watch, and
// the first one. When a watch ends, watch opens the next one from the last version. It returns when
// a list is needed. It returns an error if a watch could not be opened.
func (r *Reflector) watch(ctx context.Context, w watch.Interface) error {
	if w != nil {
		err := r.handleWatch(ctx, time.Now(), w, true)
		if !r.watchAgain(ctx, err) {
			return nil
		}
	}
	for ctx.Err() == nil {
		from := r.LastSyncResourceVersion()
		r.observe(observer.Watching{Version: from})
		start := time.Now() // before the request: some proxies send nothing before the first event
		w, err := r.listerWatcher.WatchWithContext(ctx, metav1.ListOptions{
			ResourceVersion:     from,
			AllowWatchBookmarks: true, // so that the next watch begins at a newer version
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
		// A watch from "" or "0" first sends all objects, as ADDED, in no order. Their versions do
		// not say which version the watch has reached.
		propagateRVFromStart := from != "" && from != "0"
		err = r.handleWatch(ctx, start, w, propagateRVFromStart)
		if !r.watchAgain(ctx, err) {
			return nil
		}
	}
	return nil
}

// timeoutSeconds returns the time after which the server is asked to end a watch. So no watch stays
// open forever at a server whose client is gone without a word. (A client finds out that its
// connection is dead by the pings of its HTTP client.) The time is random: watches that were opened
// at the same time, such as after the start of a server, should not all end at the same time.
func (r *Reflector) timeoutSeconds() *int64 {
	return ptr.To(int64(r.MinWatchTimeout.Seconds() * (1 + rand.Float64())))
}

// watchAgain reports the end of a watch, and decides whether another watch can resume, or whether a
// list is needed. If the server has too many requests, it backs off.
func (r *Reflector) watchAgain(ctx context.Context, err error) bool {
	logger := r.logger(ctx)
	again := false
	switch {
	case ctx.Err() != nil:
		return false
	case err == nil:
		again = true
	case isExpiredError(err):
		// The version is too old for a watch. It is not too old for a list, which may be of
		// any newer version. So isLastSyncResourceVersionUnavailable does not change.
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

// handleWatch applies the events of a watch to the store, until the watch ends. It stops the watch.
func (r *Reflector) handleWatch(ctx context.Context, start time.Time, w watch.Interface,
	propagateRVFromStart bool) error {
	defer w.Stop() // even if the store panics, because the caller may recover
	h := watchHandler{
		Reflector:            r,
		store:                r.Store,
		start:                start,
		propagateRVFromStart: propagateRVFromStart,
		recordVersion: func(version string) {
			r.setLastSyncResourceVersion(version)
			if updater, ok := r.Store.(cache.ResourceVersionUpdater); ok {
				updater.UpdateResourceVersion(version)
			}
		},
	}
	return h.handleAnyWatch(ctx, w)
}

// A watchHandler handles the events of one watch.
type watchHandler struct {
	*Reflector
	store interface {
		Add(obj any) error
		Update(obj any) error
		Delete(obj any) error
	}
	start                           time.Time            // of the request
	propagateRVFromStart            bool                 // use the versions of all events
	exitOnWatchListBookmarkReceived bool                 // the watch begins with a list: return at the end of the list
	recordVersion                   func(version string) // of the list or of the event that the store got

	// The events so far.
	watchListBookmarkReceived bool // the bookmark at the end of the list
	eventReceivedBesidesAdded bool // an event that is not part of the list: from then on, use the versions of events
	eventCount                int
	lastEventObserveTime      time.Time
}

// handleAnyWatch handles events until the watch ends, or until the end of the list if
// exitOnWatchListBookmarkReceived is set.
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

// handleEvent applies one event to the store. It reports and leaves out an object that
// it cannot understand or store. To list again would not help, because the list would have the same
// object.
func (h *watchHandler) handleEvent(ctx context.Context, event watch.Event) {
	if h.expectedType != nil && reflect.TypeOf(event.Object) != h.expectedType {
		h.leaveOut(ctx, event, nil, "Unexpected watch event object type",
			"expectedType", h.expectedType, "actualType", reflect.TypeOf(event.Object))
		return
	}
	object, err := meta.Accessor(event.Object)
	if err != nil { // such as an event without an object
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
	if failure, err := h.changeStore(event, object); err != nil {
		h.leaveOut(ctx, event, err, failure, "object", event.Object)
	}
	switch event.Type {
	case watch.Modified, watch.Deleted, watch.Bookmark:
		h.eventReceivedBesidesAdded = true
	}
	if h.propagateRVFromStart || h.eventReceivedBesidesAdded {
		h.recordVersion(object.GetResourceVersion())
	}
	h.eventCount++
	if h.exitOnWatchListBookmarkReceived {
		h.lastEventObserveTime = time.Now()
	}
}

// leaveOut reports an event that is left out to the log and to the observer.
func (h *watchHandler) leaveOut(ctx context.Context, event watch.Event, err error, text string, keysAndValues ...any) {
	utilruntime.HandleErrorWithContext(ctx, err, text, append([]any{"type", h.TypeDescription}, keysAndValues...)...)
	reason := errors.New(text)
	if err != nil {
		reason = fmt.Errorf("%s: %w", text, err)
	}
	h.observe(observer.LeftOut{Type: event.Type, Object: event.Object, Err: reason})
}

// changeStore applies an event to the store. With an error, it also returns what to log, in
// client-go's words.
func (h *watchHandler) changeStore(event watch.Event, object metav1.Object) (failure string, err error) {
	if h.Observer != nil && !h.exitOnWatchListBookmarkReceived { // events of a list are not observed one by one
		h.observeEvent(event, object)
	}
	switch event.Type {
	case watch.Added:
		return "Unable to add watch event object to store", h.store.Add(event.Object)
	case watch.Modified:
		return "Unable to update watch event object to store", h.store.Update(event.Object)
	case watch.Deleted:
		return "Unable to delete watch event object from store", h.store.Delete(event.Object)
	case watch.Bookmark:
		if object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true" {
			h.watchListBookmarkReceived = true
		}
		if store, ok := h.store.(cache.ReflectorBookmarkStore); ok {
			return "Unable to send bookmark event to store", store.Bookmark(object.GetResourceVersion())
		}
		return "", nil
	default:
		return "Unknown watch event", fmt.Errorf("it is neither an event of the store nor a bookmark: %s", event.Type)
	}
}

// observeEvent reports an event of the watch to the observer.
func (h *watchHandler) observeEvent(event watch.Event, object metav1.Object) {
	if event.Type == watch.Bookmark {
		h.observe(observer.Bookmark{Version: object.GetResourceVersion()})
		return
	}
	h.observe(observer.Received{
		Type:    event.Type,
		Key:     cache.NewObjectName(object.GetNamespace(), object.GetName()).String(),
		Object:  event.Object,
		Version: object.GetResourceVersion(),
	})
}
