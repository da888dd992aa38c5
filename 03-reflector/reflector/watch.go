// Watching: one change after the other.

package reflector

import (
	"context"
	"fmt"
	"reflect"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// watch changes the store as a watch says. When the watch ends, it opens another
// one where the first has ended. It returns when only a list can help, with an
// error if the server did not take the watch.
func (r *Reflector) watch(ctx context.Context, w watch.Interface) error {
	defer func() {
		if w != nil { // ctx has ended, or the store has panicked
			w.Stop()
		}
	}()
	for ctx.Err() == nil {
		began, from := time.Now(), r.LastSyncResourceVersion()
		// A watch from no version first sends all objects, as ADDED, in no order. Their
		// versions do not say how far the watch is. An event of another kind is the first
		// after them: from then on versions count.
		ordered := w != nil || from != "" && from != "0"
		e := events{store: r.Store, began: began, versionsCount: ordered, version: r.advance}
		if w == nil {
			r.observe(observer.Event{Kind: observer.Watching, Version: from})
			opened, err := r.source.WatchWithContext(ctx, metav1.ListOptions{
				ResourceVersion:     from,
				AllowWatchBookmarks: true,
				TimeoutSeconds:      r.watchTimeout(),
			})
			if isRefused(err) {
				r.observe(observer.Event{Kind: observer.Ended, Err: err})
				r.wait(ctx, r.watchPause())
				continue
			}
			if err != nil {
				return err
			}
			w = opened
		}
		err := r.take(ctx, w, &e)
		w.Stop()
		w = nil
		switch {
		case ctx.Err() != nil:
		case err == nil:
			r.observe(observer.Event{Kind: observer.Ended})
		case apierrors.IsTooManyRequests(err):
			r.observe(observer.Event{Kind: observer.Ended, Err: err})
			r.wait(ctx, r.watchPause())
		case isExpired(err):
			r.observe(observer.Event{Kind: observer.Expired, Err: err})
			return nil
		default:
			r.observe(observer.Event{Kind: observer.Ended, Err: err})
			return nil
		}
	}
	return nil
}

// advance says that the store is as of the version of an event.
func (r *Reflector) advance(version string) {
	r.reached(version)
	if updater, ok := r.Store.(cache.ResourceVersionUpdater); ok {
		updater.UpdateResourceVersion(version)
	}
}

// events is what becomes of the events of a watch.
type events struct {
	store interface {
		Add(obj any) error
		Update(obj any) error
		Delete(obj any) error
	}
	version       func(string) // is called with the versions that were reached
	versionsCount bool         // the watch is past the objects that it began with
	began         time.Time
	untilListed   bool // stop at the end of the list that it began with
	listed        bool // that end has come
	count         int
}

// take takes events until the watch ends, or what it was waiting for has come.
func (r *Reflector) take(ctx context.Context, w watch.Interface, e *events) error {
	for !e.untilListed || !e.listed {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case event, ok := <-w.ResultChan():
			if !ok {
				if e.count == 0 && time.Since(e.began) < time.Second {
					return &cache.VeryShortWatchError{Name: r.TypeDescription}
				}
				return nil
			}
			if event.Type == watch.Error {
				return apierrors.FromObject(event.Object)
			}
			r.takeOne(ctx, event, e)
		}
	}
	return nil
}

// takeOne makes the change of one event. What cannot be understood or stored is
// reported, and left out.
func (r *Reflector) takeOne(ctx context.Context, event watch.Event, e *events) {
	if r.expected != nil && reflect.TypeOf(event.Object) != r.expected {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unexpected watch event object type",
			"reflector", r.TypeDescription, "expectedType", r.expected, "actualType", reflect.TypeOf(event.Object))
		return
	}
	object, err := meta.Accessor(event.Object)
	if err != nil { // or there is no object
		utilruntime.HandleErrorWithContext(ctx, err, "Unable to understand watch event",
			"reflector", r.TypeDescription, "event", event)
		return
	}
	kind := event.Object.GetObjectKind().GroupVersionKind()
	if r.kind != nil && kind != *r.kind {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unexpected watch event object gvk",
			"reflector", r.TypeDescription, "expectedGVK", *r.kind, "actualGVK", kind)
		return
	}
	if isTable(event.Object) {
		utilruntime.HandleErrorWithContext(ctx, nil, "Unsupported watch event object gvk",
			"reflector", r.TypeDescription, "actualGVK", kind)
		return
	}
	if err := r.change(event, object, e); err != nil {
		utilruntime.HandleErrorWithContext(ctx, err, unable[event.Type],
			"reflector", r.TypeDescription, "event", event)
	}
	e.versionsCount = e.versionsCount || event.Type != watch.Added
	if e.versionsCount {
		e.version(object.GetResourceVersion())
	}
	e.count++
}

// unable are client-go's words for what the store did not take.
var unable = map[watch.EventType]string{
	watch.Added:    "Unable to add watch event object to store",
	watch.Modified: "Unable to update watch event object to store",
	watch.Deleted:  "Unable to delete watch event object from store",
	watch.Bookmark: "Unable to send bookmark event to store",
}

// change does to the store what an event says.
func (r *Reflector) change(event watch.Event, object metav1.Object, e *events) error {
	if r.Observer != nil && !e.untilListed && event.Type != watch.Bookmark {
		r.Observer.Observe(observer.Event{Kind: observer.Received, Type: string(event.Type), New: event.Object,
			Key:     cache.NewObjectName(object.GetNamespace(), object.GetName()).String(),
			Version: object.GetResourceVersion()})
	}
	switch event.Type {
	case watch.Added:
		return e.store.Add(event.Object)
	case watch.Modified:
		return e.store.Update(event.Object)
	case watch.Deleted:
		return e.store.Delete(event.Object)
	case watch.Bookmark:
		e.listed = e.listed || object.GetAnnotations()[metav1.InitialEventsAnnotationKey] == "true"
		r.observe(observer.Event{Kind: observer.Bookmark, Version: object.GetResourceVersion()})
		if store, ok := e.store.(cache.ReflectorBookmarkStore); ok {
			return store.Bookmark(object.GetResourceVersion())
		}
		return nil
	default:
		utilruntime.HandleError(fmt.Errorf("unknown watch event: %s", event.Type))
		return nil
	}
}
