// The bugs that are planted in informers.

package record

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// listerWatcher is one whose lists or watches are changed.
type listerWatcher struct {
	cache.ListerWatcher
	list  func(runtime.Object) runtime.Object
	watch func(watch.Interface) watch.Interface
}

func (lw listerWatcher) IsWatchListSemanticsUnSupported() bool { return true }

func (lw listerWatcher) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := cache.ToListerWithContext(lw.ListerWatcher).ListWithContext(ctx, o)
	if err == nil && lw.list != nil {
		list = lw.list(list)
	}
	return list, err
}

func (lw listerWatcher) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := cache.ToWatcherWithContext(lw.ListerWatcher).WatchWithContext(ctx, o)
	if err == nil && lw.watch != nil {
		w = lw.watch(w)
	}
	return w, err
}

// dropEvent loses the nth event of the watch.
func dropEvent(n int) func(cache.ListerWatcher) cache.ListerWatcher {
	return func(lw cache.ListerWatcher) cache.ListerWatcher {
		seen := 0
		return listerWatcher{ListerWatcher: lw, watch: func(w watch.Interface) watch.Interface {
			return watch.Filter(w, func(e watch.Event) (watch.Event, bool) { seen++; return e, seen != n })
		}}
	}
}

// swapEvents exchanges the nth event of the watch and the one after it.
func swapEvents(n int) func(cache.ListerWatcher) cache.ListerWatcher {
	return func(lw cache.ListerWatcher) cache.ListerWatcher {
		seen := 0
		return listerWatcher{ListerWatcher: lw, watch: func(w watch.Interface) watch.Interface {
			swapped := &eventWatch{Interface: w, events: make(chan watch.Event)}
			go func() {
				defer close(swapped.events)
				var held *watch.Event
				for e := range w.ResultChan() {
					if seen++; seen == n {
						held = &e
						continue
					}
					swapped.events <- e
					if held != nil {
						swapped.events <- *held
						held = nil
					}
				}
			}()
			return swapped
		}}
	}
}

// eventWatch is a watch whose events come over a channel of its own.
type eventWatch struct {
	watch.Interface
	events chan watch.Event
}

func (w *eventWatch) ResultChan() <-chan watch.Event { return w.events }

// listDeleted adds a deleted object to each list after the first.
func listDeleted(lw cache.ListerWatcher) cache.ListerWatcher {
	lists := 0
	return listerWatcher{ListerWatcher: lw, list: func(list runtime.Object) runtime.Object {
		if lists++; lists > 1 {
			l := list.(*corev1.List)
			l.Items = append(l.Items, runtime.RawExtension{Object: object("c", "c1", "3")})
		}
		return list
	}}
}

// listAltered gives an object other contents, and the same version.
func listAltered(lw cache.ListerWatcher) cache.ListerWatcher {
	return listerWatcher{ListerWatcher: lw, list: func(list runtime.Object) runtime.Object {
		for i, item := range list.(*corev1.List).Items {
			if o := item.Object.(*corev1.ConfigMap); o.Name == "d" {
				o = o.DeepCopy()
				o.Data["version"] = "altered"
				list.(*corev1.List).Items[i].Object = o
			}
		}
		return list
	}}
}

// interceptor is a handler between an informer and another handler. Each function
// can be nil: the call is passed on.
type interceptor struct {
	cache.ResourceEventHandler
	add    func(obj any, first bool)
	update func(oldObj, newObj any)
	remove func(obj any)
}

func (i interceptor) OnAdd(obj any, first bool) {
	if i.add == nil {
		i.ResourceEventHandler.OnAdd(obj, first)
	} else {
		i.add(obj, first)
	}
}

func (i interceptor) OnUpdate(oldObj, newObj any) {
	if i.update == nil {
		i.ResourceEventHandler.OnUpdate(oldObj, newObj)
	} else {
		i.update(oldObj, newObj)
	}
}

func (i interceptor) OnDelete(obj any) {
	if i.remove == nil {
		i.ResourceEventHandler.OnDelete(obj)
	} else {
		i.remove(obj)
	}
}

// intercept passes every call through pass, as a function that makes it.
func intercept(next cache.ResourceEventHandler, pass func(call func())) cache.ResourceEventHandler {
	return interceptor{
		add:    func(obj any, first bool) { pass(func() { next.OnAdd(obj, first) }) },
		update: func(oldObj, newObj any) { pass(func() { next.OnUpdate(oldObj, newObj) }) },
		remove: func(obj any) { pass(func() { next.OnDelete(obj) }) },
	}
}

// dropCall loses the nth call.
func dropCall(n int) func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		seen := 0
		return intercept(next, func(call func()) {
			if seen++; seen != n {
				call()
			}
		})
	}
}

// dropNew loses the add of a version.
func dropNew(version string) func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		return interceptor{ResourceEventHandler: next, add: func(obj any, first bool) {
			if obj.(Object).GetResourceVersion() != version {
				next.OnAdd(obj, first)
			}
		}}
	}
}

// swapCalls exchanges the nth call and the one after it.
func swapCalls(n int) func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		seen := 0
		var held func()
		return intercept(next, func(call func()) {
			if seen++; seen == n {
				held = call
				return
			}
			call()
			if held != nil {
				held()
				held = nil
			}
		})
	}
}

func dropTombstones(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return interceptor{ResourceEventHandler: next, remove: func(obj any) {
		if _, ok := obj.(cache.DeletedFinalStateUnknown); !ok {
			next.OnDelete(obj)
		}
	}}
}

// alterObjects changes what is in an object, and not its version.
func alterObjects(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return interceptor{ResourceEventHandler: next, add: func(obj any, first bool) {
		altered := obj.(*corev1.ConfigMap).DeepCopy()
		altered.Data["version"] = "altered"
		next.OnAdd(altered, first)
	}}
}

func repeatAdd(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return interceptor{ResourceEventHandler: next, add: func(obj any, first bool) {
		next.OnAdd(obj, first)
		next.OnAdd(obj, first)
	}}
}

func passString(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return interceptor{ResourceEventHandler: next, add: func(any, bool) { next.OnAdd("a string", false) }}
}

// addDeleted adds what was deleted once more.
func addDeleted(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return interceptor{ResourceEventHandler: next, remove: func(obj any) {
		next.OnDelete(obj)
		if deleted, ok := obj.(*corev1.ConfigMap); ok {
			next.OnAdd(deleted, false)
		}
	}}
}

// neverRemoved calls the second handler after it was removed.
func neverRemoved() func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	var mu sync.Mutex
	var all []cache.ResourceEventHandler
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, next)
		if len(all) == 1 {
			return intercept(next, func(call func()) { call() })
		}
		// The second, which will be removed, gets the calls of the first as well.
		first := all[0].(*Recorder)
		first.after = func(n int) {
			calls, _ := first.Calls()
			if n > 6 {
				next.OnAdd(calls[n-1].New, false)
			}
		}
		return next
	}
}

// incompleteIndexer is one that has lost an entry.
type incompleteIndexer struct{ cache.Indexer }

func (i incompleteIndexer) IndexKeys(name, value string) ([]string, error) {
	if value == "app-10" {
		return nil, nil
	}
	return i.Indexer.IndexKeys(name, value)
}

func missingEntry(indexer cache.Indexer) cache.Indexer { return incompleteIndexer{indexer} }

// staleIndexer is one that still has a value, with some keys or none.
type staleIndexer struct {
	cache.Indexer
	keys []string
}

func (s staleIndexer) ListIndexFuncValues(name string) []string {
	return append(s.Indexer.ListIndexFuncValues(name), "app-1")
}

func (s staleIndexer) IndexKeys(name, value string) ([]string, error) {
	if value == "app-1" {
		return s.keys, nil
	}
	return s.Indexer.IndexKeys(name, value)
}

func staleEntry(indexer cache.Indexer) cache.Indexer {
	return staleIndexer{indexer, []string{"default/a"}}
}

func staleValue(indexer cache.Indexer) cache.Indexer { return staleIndexer{indexer, nil} }
