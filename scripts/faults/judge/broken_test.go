// The defects that are planted in informers.

package judge

import (
	"context"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// tampered is a ListerWatcher whose lists or watches are changed.
type tampered struct {
	cache.ListerWatcher
	list  func(runtime.Object) runtime.Object
	watch func(watch.Interface) watch.Interface
}

func (t tampered) IsWatchListSemanticsUnSupported() bool { return true }

func (t tampered) ListWithContext(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := cache.ToListerWithContext(t.ListerWatcher).ListWithContext(ctx, o)
	if err == nil && t.list != nil {
		list = t.list(list)
	}
	return list, err
}

func (t tampered) WatchWithContext(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	w, err := cache.ToWatcherWithContext(t.ListerWatcher).WatchWithContext(ctx, o)
	if err == nil && t.watch != nil {
		w = t.watch(w)
	}
	return w, err
}

// dropEvent loses the nth event of the watch.
func dropEvent(n int) func(cache.ListerWatcher) cache.ListerWatcher {
	return func(lw cache.ListerWatcher) cache.ListerWatcher {
		seen := 0
		return tampered{ListerWatcher: lw, watch: func(w watch.Interface) watch.Interface {
			return watch.Filter(w, func(e watch.Event) (watch.Event, bool) { seen++; return e, seen != n })
		}}
	}
}

// swapEvents exchanges the nth event of the watch and the one after it.
func swapEvents(n int) func(cache.ListerWatcher) cache.ListerWatcher {
	return func(lw cache.ListerWatcher) cache.ListerWatcher {
		seen := 0
		return tampered{ListerWatcher: lw, watch: func(w watch.Interface) watch.Interface {
			out := &swapped{Interface: w, out: make(chan watch.Event)}
			go func() {
				defer close(out.out)
				var held *watch.Event
				for e := range w.ResultChan() {
					if seen++; seen == n {
						held = &e
						continue
					}
					out.out <- e
					if held != nil {
						out.out <- *held
						held = nil
					}
				}
			}()
			return out
		}}
	}
}

type swapped struct {
	watch.Interface
	out chan watch.Event
}

func (s *swapped) ResultChan() <-chan watch.Event { return s.out }

// listsTheDead adds to a list what is no longer there.
func listsTheDead(lw cache.ListerWatcher) cache.ListerWatcher {
	lists := 0
	return tampered{ListerWatcher: lw, list: func(list runtime.Object) runtime.Object {
		if lists++; lists > 1 {
			l := list.(*corev1.List)
			l.Items = append(l.Items, runtime.RawExtension{Object: object("c", "c1", "3")})
		}
		return list
	}}
}

// listsLies gives an object other contents, and the same version.
func listsLies(lw cache.ListerWatcher) cache.ListerWatcher {
	return tampered{ListerWatcher: lw, list: func(list runtime.Object) runtime.Object {
		for i, item := range list.(*corev1.List).Items {
			if o := item.Object.(*corev1.ConfigMap); o.Name == "d" {
				o = o.DeepCopy()
				o.Data["version"] = "a lie"
				list.(*corev1.List).Items[i].Object = o
			}
		}
		return list
	}}
}

// between is a handler between an informer and another handler. Each function
// can be nil: the call is passed on.
type between struct {
	cache.ResourceEventHandler
	add    func(obj any, first bool)
	update func(oldObj, newObj any)
	remove func(obj any)
}

func (b between) OnAdd(obj any, first bool) {
	if b.add == nil {
		b.ResourceEventHandler.OnAdd(obj, first)
	} else {
		b.add(obj, first)
	}
}

func (b between) OnUpdate(oldObj, newObj any) {
	if b.update == nil {
		b.ResourceEventHandler.OnUpdate(oldObj, newObj)
	} else {
		b.update(oldObj, newObj)
	}
}

func (b between) OnDelete(obj any) {
	if b.remove == nil {
		b.ResourceEventHandler.OnDelete(obj)
	} else {
		b.remove(obj)
	}
}

// each passes every call through pass, as a function that makes it.
func each(next cache.ResourceEventHandler, pass func(call func())) cache.ResourceEventHandler {
	return between{
		add:    func(obj any, first bool) { pass(func() { next.OnAdd(obj, first) }) },
		update: func(oldObj, newObj any) { pass(func() { next.OnUpdate(oldObj, newObj) }) },
		remove: func(obj any) { pass(func() { next.OnDelete(obj) }) },
	}
}

func dropCall(n int) func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		seen := 0
		return each(next, func(call func()) {
			if seen++; seen != n {
				call()
			}
		})
	}
}

// dropNew loses the add of a version.
func dropNew(version string) func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		return between{ResourceEventHandler: next, add: func(obj any, first bool) {
			if obj.(Object).GetResourceVersion() != version {
				next.OnAdd(obj, first)
			}
		}}
	}
}

func swapCalls(n int) func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		seen := 0
		var held func()
		return each(next, func(call func()) {
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
	return between{ResourceEventHandler: next, remove: func(obj any) {
		if _, ok := obj.(cache.DeletedFinalStateUnknown); !ok {
			next.OnDelete(obj)
		}
	}}
}

// scribble changes objects that belong to all.
func scribble(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return between{ResourceEventHandler: next, add: func(obj any, first bool) {
		mine := obj.(*corev1.ConfigMap).DeepCopy()
		mine.Data["version"] = "scribbled"
		next.OnAdd(mine, first)
	}}
}

func stutter(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return between{ResourceEventHandler: next, add: func(obj any, first bool) {
		next.OnAdd(obj, first)
		next.OnAdd(obj, first)
	}}
}

func nonsense(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return between{ResourceEventHandler: next, add: func(any, bool) { next.OnAdd("nonsense", false) }}
}

// resurrect tells of what was deleted once more.
func resurrect(next cache.ResourceEventHandler) cache.ResourceEventHandler {
	return between{ResourceEventHandler: next, remove: func(obj any) {
		next.OnDelete(obj)
		if gone, ok := obj.(*corev1.ConfigMap); ok {
			next.OnAdd(gone, false)
		}
	}}
}

// neverLeaves has all handlers told of what any of them is told.
func neverLeaves() func(cache.ResourceEventHandler) cache.ResourceEventHandler {
	var mu sync.Mutex
	var all []cache.ResourceEventHandler
	return func(next cache.ResourceEventHandler) cache.ResourceEventHandler {
		mu.Lock()
		defer mu.Unlock()
		all = append(all, next)
		if len(all) == 1 {
			return each(next, func(call func()) { call() })
		}
		// The second, which will be removed, hears through the first as well.
		first := all[0].(*Recorder)
		first.then = func(n int) {
			calls, _ := first.Calls()
			if n > 6 {
				next.OnAdd(calls[n-1].New, false)
			}
		}
		return next
	}
}

// An indexer that lacks something.
type lacking struct{ cache.Indexer }

func (l lacking) IndexKeys(name, value string) ([]string, error) {
	if value == "app-10" {
		return nil, nil
	}
	return l.Indexer.IndexKeys(name, value)
}

func lackingIndex(indexer cache.Indexer) cache.Indexer { return lacking{indexer} }

// An indexer that has kept something.
type leftover struct {
	cache.Indexer
	keys []string
}

func (l leftover) ListIndexFuncValues(name string) []string {
	return append(l.Indexer.ListIndexFuncValues(name), "app-1")
}

func (l leftover) IndexKeys(name, value string) ([]string, error) {
	if value == "app-1" {
		return l.keys, nil
	}
	return l.Indexer.IndexKeys(name, value)
}

func staleIndex(indexer cache.Indexer) cache.Indexer { return leftover{indexer, []string{"default/a"}} }

func emptyIndex(indexer cache.Indexer) cache.Indexer { return leftover{indexer, nil} }
