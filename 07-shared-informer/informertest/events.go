// The calls of a handler, and the state of the store at that time.

package informertest

import (
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

func life(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Add(configMap("a", "2"))
	w.Modify(configMap("a", "3"))
	w.Delete(configMap("a", "4"))
	w.Add(configMap("a", "5"))
	handler.want(t, "OnAdd a 2", "OnUpdate a 3, was 2", "OnDelete a 4", "OnAdd a 5")
}

func storeDecides(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Add(configMap("a", "2"))
	w.Modify(configMap("b", "3"))
	handler.want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnAdd b 3")
}

// In this version the object does not exist any more.
func deleteHasItsVersion(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	r.server.nextWatch().Delete(configMap("a", "9"))
	handler.want(t, "OnAdd a 1 first", "OnDelete a 9")
}

func otherTypeIsDropped(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Add(&metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Name: "b", ResourceVersion: "2"}})
	w.Add(configMap("a", "3"))
	handler.want(t, "OnAdd a 3")
}

func bookmarkIsNoEvent(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Action(watch.Bookmark, configMap("a", "30"))
	w.Modify(configMap("a", "31"))
	handler.want(t, "OnAdd a 1 first", "OnUpdate a 31, was 1")
}

func unknownIsNotDeleted(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	handler := r.recorder(t)
	r.run(t)
	r.server.nextWatch().Delete(configMap("never-seen", "2"))
	handler.want(t)
}

// "Client notifications happen after the corresponding cache update and … after the corresponding
// index updates."
func storeIsAhead(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{indexers: cache.Indexers{"version": byVersion}}, configMap("a", "1"))
	var seen lines
	look := func(when string) {
		seen.add("%s: %v", when, slices.Sorted(slices.Values(r.GetIndexer().ListIndexFuncValues("version"))))
	}
	r.handle(t, cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { look("add") },
		UpdateFunc: func(any, any) { look("update") },
		DeleteFunc: func(any) { look("delete") },
	})
	r.run(t)
	w := r.server.nextWatch()
	seen.want(t, "add: [1]")
	w.Add(configMap("b", "2"))
	seen.want(t, "add: [1 2]")
	w.Modify(configMap("b", "3"))
	seen.want(t, "update: [1 3]")
	w.Delete(configMap("a", "4"))
	seen.want(t, "delete: [3]")
}

func byVersion(obj any) ([]string, error) {
	return []string{obj.(metav1.Object).GetResourceVersion()}, nil
}

// "For a given SharedInformer and client, the notifications are delivered sequentially", and those
// of an object in order.
func oneAfterTheOther(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{})
	var inside atomic.Int32
	var calls lines
	recorder := calls.handler()
	r.handle(t, cache.ResourceEventHandlerFuncs{UpdateFunc: func(oldObj, newObj any) {
		if n := inside.Add(1); n > 1 {
			t.Errorf("%d calls at the same time, want 1", n)
		}
		recorder.OnUpdate(oldObj, newObj)
		inside.Add(-1)
	}})
	r.run(t)
	w := r.server.nextWatch()
	var want []string
	w.Add(configMap("a", version(0)))
	for i := range 1000 {
		w.Modify(configMap("a", version(i+1)))
		want = append(want, "OnUpdate a "+version(i+1)+", was "+version(i))
	}
	calls.want(t, want...)
}

func blockedHandler(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	blocked := make(chan struct{})
	r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-blocked }})
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Add(configMap("b", "2"))
	w.Add(configMap("c", "3"))
	handler.want(t, "OnAdd a 1 first", "OnAdd b 2", "OnAdd c 3")
	r.wantKeys(t, "while a handler is blocked", "ns/a", "ns/b", "ns/c")
	late := r.recorder(t)
	late.wantSorted(t, "OnAdd a 1 first", "OnAdd b 2 first", "OnAdd c 3 first")
	close(blocked)
	synctest.Wait()
}

// The filter is called with both objects of an update, and with tombstones. The store also holds
// the objects that do not match.
func filter(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"), configMap("b", "9"))
	var calls lines
	r.handle(t, cache.FilteringResourceEventHandler{Handler: calls.handler(), FilterFunc: func(obj any) bool {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		return obj.(metav1.Object).GetResourceVersion() < "5"
	}})
	r.run(t)
	calls.want(t, "OnAdd a 1 first")
	w := r.server.nextWatch()
	w.Modify(configMap("a", "2"))
	calls.want(t, "OnUpdate a 2, was 1")
	w.Modify(configMap("a", "8"))
	calls.want(t, "OnDelete a 2")
	w.Modify(configMap("a", "9"))
	calls.want(t)
	w.Modify(configMap("a", "3"))
	calls.want(t, "OnAdd a 3")
	r.wantKeys(t, "all objects", "ns/a", "ns/b")
	w.Delete(configMap("b", "9"))
	calls.want(t)
	r.server.relist(w) // a is gone, too
	calls.want(t, "OnDelete tombstone ns/a of 3")
}
