// What an observer gets.

package informer

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

// received says which event of the watch has come.
func (c changes) received(eventType watch.EventType, key string, obj any) {
	if c.observer == nil {
		return
	}
	version := ""
	if object, err := meta.Accessor(obj); err == nil {
		version = object.GetResourceVersion()
	}
	c.observer.Observe(observer.Event{
		Kind: observer.Received, Type: string(eventType), Key: key, New: obj, Version: version,
	})
}

// stored says what has changed in the store.
func (c changes) stored(n *processor.Notification) {
	if c.observer == nil {
		return
	}
	event := n.Event(observer.Stored)
	event.Version = c.store.LastStoreSyncResourceVersion()
	c.observer.Observe(event)
}

// listed says that a list has come.
func (c changes) listed(count int, version string) {
	if c.observer != nil {
		c.observer.Observe(observer.Event{Kind: observer.Listed, Count: count, Version: version})
	}
}

// bookmarked says that a bookmark has come.
func (c changes) bookmarked(version string) {
	if c.observer != nil {
		c.observer.Observe(observer.Event{Kind: observer.Bookmark, Version: version})
	}
}

// observeEnd says that listing and watching ended, and when it goes on.
func (i *Informer) observeEnd(err error, pause time.Duration) {
	if i.observer == nil {
		return
	}
	ended := observer.Event{Kind: observer.Ended, Err: err}
	if apierrors.IsResourceExpired(err) || apierrors.IsGone(err) {
		ended.Kind = observer.Expired
	}
	i.observer.Observe(ended)
	i.observer.Observe(observer.Event{Kind: observer.BackingOff, Took: pause})
}

// An observedListWatch says when the reflector lists and watches.
type observedListWatch struct {
	cache.ListerWatcher
	observer observer.Observer
}

// ListWithContext implements cache.ListerWatcherWithContext.
func (lw observedListWatch) ListWithContext(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
	lw.observer.Observe(observer.Event{Kind: observer.Listing, Version: options.ResourceVersion})
	return cache.ToListerWatcherWithContext(lw.ListerWatcher).ListWithContext(ctx, options)
}

// WatchWithContext implements cache.ListerWatcherWithContext. A streamed list is
// a watch, too: one that begins with a list.
func (lw observedListWatch) WatchWithContext(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
	kind := observer.Watching
	if options.SendInitialEvents != nil {
		kind = observer.Listing
	}
	lw.observer.Observe(observer.Event{Kind: kind, Version: options.ResourceVersion})
	return cache.ToListerWatcherWithContext(lw.ListerWatcher).WatchWithContext(ctx, options)
}

// IsWatchListSemanticsUnSupported is client-go's question whether lists can be
// streamed.
func (lw observedListWatch) IsWatchListSemanticsUnSupported() bool {
	asked, ok := lw.ListerWatcher.(interface{ IsWatchListSemanticsUnSupported() bool })
	return ok && asked.IsWatchListSemanticsUnSupported()
}
