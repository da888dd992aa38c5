// Listing with WATCH: the server streams all objects, and then the changes.

package reflector

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/utils/ptr"

	"example.com/informer/03-reflector/observer"
)

// watchList asks for a watch that begins with a list. It returns the watch when the list is
// complete and in the store. After some errors it asks again. It returns the other errors: for
// these, a LIST may help.
func (r *Reflector) watchList(ctx context.Context) (watch.Interface, error) {
	for ctx.Err() == nil {
		from := r.rewatchResourceVersion()
		w, err := r.tryWatchList(ctx, from)
		if err == nil {
			return w, nil
		}
		if ctx.Err() != nil {
			break
		}
		if !r.watchListAgain(ctx, from, err) {
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// errIncompleteList is the error of a streamed list whose watch has ended without an error before
// the end of the list.
var errIncompleteList = errors.New("the watch has ended in the middle of its list")

// tryWatchList sends one request for a watch that begins with a list from a version. It returns the
// watch when the list is complete and in the store.
func (r *Reflector) tryWatchList(ctx context.Context, from string) (watch.Interface, error) {
	r.observe(observer.Listing{Version: from, Stream: true})
	start := time.Now()
	w, err := r.listerWatcher.WatchWithContext(ctx, metav1.ListOptions{
		ResourceVersion:      from,
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		SendInitialEvents:    ptr.To(true),
		AllowWatchBookmarks:  true,
		TimeoutSeconds:       r.timeoutSeconds(),
	})
	if err != nil {
		return nil, err
	}
	watchListBookmarkReceived, err := r.handleListWatch(ctx, start, w)
	if err != nil {
		return nil, err
	}
	if !watchListBookmarkReceived {
		return nil, errIncompleteList
	}
	return w, nil
}

// watchListAgain reports the error of a streamed list, and decides whether to ask for a streamed
// list again. If so, it backs off where this is needed. While the server refuses connections, a
// LIST does not help: the server would refuse it, too.
func (r *Reflector) watchListAgain(ctx context.Context, from string, err error) bool {
	switch {
	case err == errIncompleteList:
		r.observeEnd(err)
		r.backOff(ctx, r.listDelayHandler)
		return true
	case isWatchErrorRetriable(err):
		r.logger(ctx).V(2).Info("watch-list failed - backing off", "err", err)
		r.observeEnd(err)
		r.backOff(ctx, r.watchDelayHandler)
		return true
	case isExpiredError(err), isTooLargeResourceVersionError(err):
		r.observeEnd(err)
		r.setIsLastSyncResourceVersionUnavailable(true)
		if from == "" { // the server has refused even the newest version
			r.backOff(ctx, r.listDelayHandler)
		}
		return true
	default:
		return false // the caller reports the error
	}
}

// rewatchResourceVersion returns the version than which a streamed list must not be older. "" means
// the newest version.
func (r *Reflector) rewatchResourceVersion() string {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	if r.isLastSyncResourceVersionUnavailable {
		return ""
	}
	return r.lastSyncResourceVersion
}

// handleListWatch collects the list at the beginning of a watch, and stores it. It stops the watch
// if the list is not complete, or not stored.
func (r *Reflector) handleListWatch(ctx context.Context, start time.Time, w watch.Interface) (
	watchListBookmarkReceived bool, err error,
) {
	stopWatcher := true
	defer func() {
		if stopWatcher { // even if a transform panics, because the caller may recover
			w.Stop()
		}
	}()
	list := newTemporaryStore(r.Store)
	h := watchHandler{
		Reflector:                       r,
		store:                           list,
		start:                           start,
		exitOnWatchListBookmarkReceived: true,
		recordVersion:                   func(version string) { list.resourceVersion = version },
	}
	if err := h.handleAnyWatch(ctx, w); err != nil || !h.watchListBookmarkReceived {
		return false, err
	}
	if err := r.syncWith(list.takeList(), list.resourceVersion); err != nil {
		return false, err
	}
	stopWatcher = false
	return true, nil
}

// initialEventsEndBookmarkInterval is the time without an event after which a streamed list that
// has not ended is logged as a warning.
const initialEventsEndBookmarkInterval = 10 * time.Second

// initialEventsEndBookmarkTicker returns a channel that says when to check for a late bookmark. For
// a watch without a list, the channel is nil. The caller must call stop.
func (h *watchHandler) initialEventsEndBookmarkTicker() (tick <-chan time.Time, stop func()) {
	if !h.exitOnWatchListBookmarkReceived {
		return nil, func() {}
	}
	ticker := time.NewTicker(initialEventsEndBookmarkInterval)
	return ticker.C, ticker.Stop
}

// warnIfExpired logs a warning if the bookmark at the end of a streamed list is late. There is no
// other sign that the reflector waits for it: the watch is open, and there is no error. Some
// servers and some proxies never send this bookmark.
func (h *watchHandler) warnIfExpired(ctx context.Context) {
	var err error
	elapsed := time.Since(h.lastEventObserveTime)
	switch {
	case h.lastEventObserveTime.IsZero():
		err = fmt.Errorf("awaiting required bookmark event for initial events stream, no events received for %v",
			time.Since(h.start))
	case elapsed >= initialEventsEndBookmarkInterval:
		err = fmt.Errorf("hasn't received required bookmark event marking the end of initial events stream, "+
			"received last event %v ago", elapsed)
	default:
		return
	}
	h.logger(ctx).Info("Warning: event bookmark expired", "err", err)
}
