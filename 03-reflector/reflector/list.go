// Listing: all objects at once, with LIST or over a watch.

package reflector

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/pager"
	"k8s.io/utils/ptr"

	"example.com/informer/03-reflector/observer"
)

// list fills the store. A list that is streamed comes over a watch, which goes on
// after it: that is w. Where the server cannot do that, it is a LIST, and w is nil.
func (r *Reflector) list(ctx context.Context) (w watch.Interface, err error) {
	if r.streams {
		if w, err = r.stream(ctx); err == nil || ctx.Err() != nil {
			return w, err
		}
		r.observe(observer.Event{Kind: observer.Ended, Err: err})
	}
	return nil, r.listAll(ctx)
}

// listAll asks for a list from the version that was reached. If the server does not
// have that version, it asks for the newest state.
func (r *Reflector) listAll(ctx context.Context) error {
	from := r.listFrom()
	list, paged, err := r.request(ctx, from)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && isTable(list) {
		kind := list.GetObjectKind().GroupVersionKind()
		err = fmt.Errorf("unsupported list gvk: %v, type: %v", kind, r.TypeDescription)
	}
	if err != nil {
		return fmt.Errorf("failed to list %v: %w", r.TypeDescription, err)
	}
	if from == "0" && paged {
		r.pages = true
	}
	about, err := meta.ListAccessor(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	items, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	objs := make([]any, 0, len(items))
	for _, item := range items {
		objs = append(objs, item)
	}
	return r.replace(objs, about.GetResourceVersion())
}

// listFrom is the version to list from. "0" means: any state will do, so that the
// server can answer from its watch cache. "" means: the newest.
func (r *Reflector) listFrom() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.gone:
		return ""
	case r.version == "":
		return "0"
	default:
		return r.version
	}
}

// streamFrom is the version that a streamed list must not be older than.
func (r *Reflector) streamFrom() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone {
		return ""
	}
	return r.version
}

// request sends a LIST, or one for each page. It does not wait for a source that
// does not notice the end of ctx.
func (r *Reflector) request(ctx context.Context, from string) (list runtime.Object, paged bool, err error) {
	type answer struct {
		list  runtime.Object
		paged bool
		err   error
		panic any // what the source has panicked with
	}
	pages := pager.New(pager.SimplePageFunc(func(options metav1.ListOptions) (runtime.Object, error) {
		r.observe(observer.Event{Kind: observer.Listing, Version: options.ResourceVersion})
		return r.source.ListWithContext(ctx, options)
	}))
	switch {
	case r.PageSize > 0:
		pages.PageSize = r.PageSize
	case from != "" && from != "0" && !r.pages:
		pages.PageSize = 0 // a list from a version comes from the watch cache only if it has no pages
	}
	answers := make(chan answer, 1)
	go func() {
		var a answer
		defer func() {
			a.panic = recover()
			answers <- a
		}()
		a.list, a.paged, a.err = pages.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: from})
		if isExpired(a.err) || isTooLarge(a.err) {
			r.observe(observer.Event{Kind: observer.Expired, Err: a.err})
			r.setGone(true)
			a.list, a.paged, a.err = pages.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: r.listFrom()})
		}
	}()
	select {
	case a := <-answers:
		if a.panic != nil {
			panic(a.panic) // where the caller can recover
		}
		return a.list, a.paged, a.err
	case <-ctx.Done():
		return nil, false, ctx.Err()
	}
}

// replace hands a list to the store.
func (r *Reflector) replace(objs []any, version string) error {
	r.setGone(false)
	r.observe(observer.Event{Kind: observer.Listed, Count: len(objs), Version: version})
	if err := r.Store.Replace(objs, version); err != nil {
		return fmt.Errorf("unable to sync list result: %w", err)
	}
	r.reached(version)
	return nil
}

// stream asks for a watch that begins with a list, and returns it when the list is
// complete and in the store.
func (r *Reflector) stream(ctx context.Context) (watch.Interface, error) {
	for ctx.Err() == nil {
		from := r.streamFrom()
		r.observe(observer.Event{Kind: observer.Listing, Version: from})
		began := time.Now()
		w, err := r.source.WatchWithContext(ctx, metav1.ListOptions{
			ResourceVersion:      from,
			ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
			SendInitialEvents:    ptr.To(true),
			AllowWatchBookmarks:  true,
			TimeoutSeconds:       r.watchTimeout(),
		})
		if err == nil {
			var complete bool
			if complete, err = r.takeList(ctx, w, began); complete {
				return w, nil
			}
		}
		switch {
		case ctx.Err() != nil:
		case err == nil: // it ended in the middle of the list
			r.observe(observer.Event{Kind: observer.Ended})
			r.wait(ctx, r.listPause())
		case isRefused(err):
			r.observe(observer.Event{Kind: observer.Ended, Err: err})
			r.wait(ctx, r.watchPause())
		case isExpired(err), isTooLarge(err):
			r.observe(observer.Event{Kind: observer.Expired, Err: err})
			if r.setGone(true); from == "" { // and it was asked for the newest state
				r.wait(ctx, r.listPause())
			}
		default:
			return nil, err
		}
	}
	return nil, ctx.Err()
}

// takeList collects the list that a watch begins with, and hands it to the store.
// It stops the watch if the list is not complete, or not stored.
func (r *Reflector) takeList(ctx context.Context, w watch.Interface, began time.Time) (complete bool, err error) {
	defer func() {
		if !complete { // even if a transform panics: the caller may recover
			w.Stop()
		}
	}()
	list := newCollector(r.Store)
	e := events{store: list, began: began, untilListed: true, version: func(v string) { list.version = v }}
	if err := r.take(ctx, w, &e); err != nil || !e.listed {
		return false, err
	}
	if err := r.replace(list.list(), list.version); err != nil {
		return false, err
	}
	return true, nil
}

// watchTimeout is random, so that not all watches of a server end at once.
func (r *Reflector) watchTimeout() *int64 {
	return ptr.To(int64(r.MinWatchTimeout.Seconds() * (1 + rand.Float64())))
}
