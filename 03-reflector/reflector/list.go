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

// list replaces the contents of the store with the answer to a LIST.
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
	// If the server answers a LIST from "0" in pages, it has no watch cache, or its watch cache was
	// not ready yet. Pages of a LIST from "" do not tell: a server makes them from etcd or from its
	// watch cache.
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

// relistResourceVersion returns the version to list from. "0" means any version: the server can
// answer from its watch cache. "" means the newest version: the server has to ask etcd which
// version is the newest.
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

// newPager returns a pager, which sends a LIST, or a LIST for each page.
func (r *Reflector) newPager(from string) *pager.ListPager {
	listPager := pager.New(func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		r.observe(observer.Listing{Version: options.ResourceVersion})
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
	case r.paginatedResult:
		// At the first list, no watch cache was ready. The reflector does not find out whether one
		// is ready now. Pages of the default size, as in the first list.
	case from != "" && from != "0":
		// Without a limit, the server can answer from its watch cache, with this version or any
		// newer one. With a limit, it has to answer with exactly this version. When an API server
		// restarts, all reflectors of the cluster list at the same time. Its new watch cache has no
		// older version, so all pages would have to come from etcd. A LIST from "0" may have a
		// limit, because a watch cache that is ready ignores it.
		listPager.PageSize = 0
	}
	return listPager
}

// listFrom asks for a list from a version. If the server does not have this version, it immediately
// asks for the newest version: another try with the same version would fail again.
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

// await calls f on a goroutine of its own. It waits until f has returned, or until ctx has ended,
// because f may ignore ctx. If f panics, await panics with the same value, so that the caller can
// recover.
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

// syncWith replaces the contents of the store with a list, and takes over its version.
func (r *Reflector) syncWith(found []any, resourceVersion string) error {
	r.setIsLastSyncResourceVersionUnavailable(false)
	if err := r.Store.Replace(found, resourceVersion); err != nil {
		return fmt.Errorf("unable to sync list result: %w", err)
	}
	r.setLastSyncResourceVersion(resourceVersion)
	r.observe(observer.Listed{Objects: len(found), Version: resourceVersion})
	return nil
}
