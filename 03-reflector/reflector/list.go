// Listing with LIST: all objects in one answer, or page by page.

package reflector

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/pager"

	"example.com/informer/03-reflector/observer"
)

// list fills the store with the answer to a LIST.
func (r *Reflector) list(ctx context.Context) error {
	from := r.relistResourceVersion()
	list, paginatedResult, err := r.listFrom(ctx, r.newPager(from), from)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err == nil && isUnsupportedTableObject(list) {
		gvk := list.GetObjectKind().GroupVersionKind()
		err = fmt.Errorf("unsupported list gvk: %v, type: %v", gvk, r.TypeDescription)
	}
	if err != nil {
		return fmt.Errorf("failed to list %v: %w", r.TypeDescription, err)
	}
	// Pages in the answer to "0" mean that there is no watch cache. Pages in the answer
	// to "" mean nothing: a server makes them from etcd or from its watch cache.
	if from == "0" && paginatedResult {
		r.paginatedResult = true
	}
	listMeta, err := meta.ListAccessor(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	items, err := meta.ExtractListWithAlloc(list)
	if err != nil {
		return fmt.Errorf("unable to understand list result %#v: %w", list, err)
	}
	found := make([]any, 0, len(items))
	for _, item := range items {
		found = append(found, item)
	}
	return r.syncWith(found, listMeta.GetResourceVersion())
}

// relistResourceVersion is the version to list from. "0" means: any state will do,
// so that the server can answer from its watch cache. "" means: the newest, and the
// server has to ask etcd which one that is.
func (r *Reflector) relistResourceVersion() string {
	r.lastSyncResourceVersionMutex.Lock()
	defer r.lastSyncResourceVersionMutex.Unlock()
	switch {
	case r.isLastSyncResourceVersionUnavailable:
		return ""
	case r.lastSyncResourceVersion == "":
		return "0"
	default:
		return r.lastSyncResourceVersion
	}
}

// newPager returns what sends a LIST, or one for each page.
func (r *Reflector) newPager(from string) *pager.ListPager {
	listPager := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		r.observe(observer.Event{Kind: observer.Listing, Version: options.ResourceVersion})
		var list runtime.Object
		var err error
		if !await(ctx, func() { list, err = r.listerWatcher.ListWithContext(ctx, options) }) {
			return nil, ctx.Err()
		}
		return list, err
	})
	switch {
	case r.WatchListPageSize > 0:
		listPager.PageSize = r.WatchListPageSize
	case r.paginatedResult: // there is no watch cache to be read from: pages, as in the first list
	case from != "" && from != "0":
		// Without a limit, the server can answer out of its watch cache, with any state from
		// this version on. With a limit, it has to be this very version. When an API server
		// is restarted, all reflectors of the cluster list at once, and its new watch cache
		// has no older version: all pages would have to come from etcd. From "0" it may be
		// asked for pages: the watch cache does not make any.
		listPager.PageSize = 0
	}
	return listPager
}

// listFrom asks for a list from a version. If the server does not have that version,
// it asks at once for the newest state: only that can be had, however often it asks.
func (r *Reflector) listFrom(ctx context.Context, listPager *pager.ListPager, from string) (
	list runtime.Object, paginatedResult bool, err error,
) {
	list, paginatedResult, err = listPager.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: from})
	if isExpiredError(err) || isTooLargeResourceVersionError(err) {
		r.observeEnd(err)
		r.setIsLastSyncResourceVersionUnavailable(true)
		return listPager.ListWithAlloc(ctx, metav1.ListOptions{ResourceVersion: r.relistResourceVersion()})
	}
	return list, paginatedResult, err
}

// await calls f on a goroutine of its own, and waits until it has returned, or until
// ctx has ended: a source need not notice that. If f panics, await does: its caller
// can recover, and a goroutine's cannot.
func await(ctx context.Context, f func()) (returned bool) {
	done := make(chan struct{})
	var panicked any
	go func() {
		defer close(done)
		defer func() { panicked = recover() }()
		f()
	}()
	select {
	case <-ctx.Done():
		return false
	case <-done:
	}
	if panicked != nil {
		panic(panicked)
	}
	return true
}

// syncWith hands a list to the store.
func (r *Reflector) syncWith(found []any, resourceVersion string) error {
	r.setIsLastSyncResourceVersionUnavailable(false)
	if err := r.Store.Replace(found, resourceVersion); err != nil {
		return fmt.Errorf("unable to sync list result: %w", err)
	}
	r.setLastSyncResourceVersion(resourceVersion)
	r.observe(observer.Event{Kind: observer.Listed, Count: len(found), Version: resourceVersion})
	return nil
}
