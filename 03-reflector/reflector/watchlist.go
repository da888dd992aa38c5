// Listing with WATCH: a stream of all objects, which goes on with the changes.

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

// watchList asks for a watch that begins with a list, and returns it when the list is
// complete and in the store. While the server refuses connections, it asks again: a
// LIST would be refused, too.
func (r *Reflector) watchList(ctx context.Context) (watch.Interface, error) {
	for ctx.Err() == nil {
		from := r.rewatchResourceVersion()
		r.observe(observer.Event{Kind: observer.Listing, Version: from, Stream: true})
		start := time.Now()
		w, err := r.listerWatcher.WatchWithContext(ctx, metav1.ListOptions{
			ResourceVersion:      from,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			SendInitialEvents:    ptr.To(true),
			AllowWatchBookmarks:  true,
			TimeoutSeconds:       r.timeoutSeconds(),
		})
		if err == nil {
			var watchListBookmarkReceived bool
			if watchListBookmarkReceived, err = r.handleListWatch(ctx, start, w); watchListBookmarkReceived {
				return w, nil
			}
		}
		switch {
		case ctx.Err() != nil:
		case err == nil: // it ended in the middle of the list
			r.observeEnd(errIncompleteList)
			r.backOff(ctx, r.listDelayHandler)
		case isWatchErrorRetriable(err):
			r.logger(ctx).V(2).Info("watch-list failed - backing off", "err", err)
			r.observeEnd(err)
			r.backOff(ctx, r.watchDelayHandler)
		case isExpiredError(err), isTooLargeResourceVersionError(err):
			r.observeEnd(err)
			r.setIsLastSyncResourceVersionUnavailable(true)
			if from == "" { // it was asked for the newest state, and says that this is too old
				r.backOff(ctx, r.listDelayHandler)
			}
		default:
			return nil, err
		}
	}
	return nil, ctx.Err()
}

var errIncompleteList = errors.New("the watch has ended in the middle of its list")

// rewatchResourceVersion is the version that a streamed list must not be older than.
// "" means: the newest.
func (r *Reflector) rewatchResourceVersion() string {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	if r.isLastSyncResourceVersionUnavailable {
		return ""
	}
	return r.lastSyncResourceVersion
}

// handleListWatch collects the list that a watch begins with, and hands it to the
// store. It stops the watch if the list is not complete, or not stored.
func (r *Reflector) handleListWatch(ctx context.Context, start time.Time, w watch.Interface) (
	watchListBookmarkReceived bool, err error,
) {
	stopWatcher := true
	defer func() {
		if stopWatcher { // even if a transform panics: the caller may recover
			w.Stop()
		}
	}()
	list := newTemporaryStore(r.Store)
	h := watchHandler{Reflector: r, store: list, start: start, exitOnWatchListBookmarkReceived: true,
		setLastSyncResourceVersion: func(version string) { list.resourceVersion = version }}
	if err := h.handleAnyWatch(ctx, w); err != nil || !h.watchListBookmarkReceived {
		return false, err
	}
	if err := r.syncWith(list.List(), list.resourceVersion); err != nil {
		return false, err
	}
	stopWatcher = false
	return true, nil
}

// initialEventsEndBookmarkInterval is how long a streamed list may pause before its
// end without a warning in the log.
const initialEventsEndBookmarkInterval = 10 * time.Second

// initialEventsEndBookmarkTicker returns a channel that says when to look whether the
// list has come to a halt. For a watch without a list it never does. Stop must be
// called.
func (h *watchHandler) initialEventsEndBookmarkTicker() (tick <-chan time.Time, stop func()) {
	if !h.exitOnWatchListBookmarkReceived {
		return nil, func() {}
	}
	ticker := time.NewTicker(initialEventsEndBookmarkInterval)
	return ticker.C, ticker.Stop
}

// warnIfExpired warns if the bookmark that ends a streamed list is late. Nobody else
// would notice that the reflector waits for it: the watch is open, and there is no
// error. Some servers, and some proxies, never send it.
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
