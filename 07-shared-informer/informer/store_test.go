// The store, its indexes, and how far they have come.

package informer

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// "The local cache starts out empty, and gets populated and updated during
// Run()." Its keys are namespace/name, or the name alone.
func TestTheStoreHoldsWhatTheServerHas(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		global := configMap("global", "1")
		global.Namespace = ""
		r := newRig(newInformer, options(), configMap("a", "1"), global)
		if got := keys(r.GetStore()); len(got) != 0 {
			t.Errorf("before the start the store holds %v", got)
		}
		r.run(t)
		wantKeys := func(want ...string) {
			t.Helper()
			synctest.Wait()
			if got := keys(r.GetStore()); !slices.Equal(got, want) {
				t.Errorf("the store holds %v, want %v", got, want)
			}
		}
		wantKeys("global", "ns/a")
		w := r.server.NextWatch()
		b := configMap("b", "2")
		w.Add(b)
		wantKeys("global", "ns/a", "ns/b")
		if obj, _, _ := r.GetStore().GetByKey("ns/b"); obj != any(b) {
			t.Errorf("the store holds %v, want the very object", obj)
		}
		w.Delete(configMap("a", "3"))
		wantKeys("global", "ns/b")
		r.server.Set(configMap("c", "4"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		wantKeys("ns/c")
		if r.GetStore() != cache.Store(r.GetIndexer()) {
			t.Error("GetStore() and GetIndexer() are not the same")
		}
	})
}

func byName(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }

func TestIndexesAreAddedEarlyAndLate(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, cache.SharedIndexInformerOptions{
			Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
		}, configMap("a", "1"), configMap("b", "1"))
		must.Do(t, r.AddIndexers(cache.Indexers{"name": byName}))
		r.run(t)
		must.Do(t, r.AddIndexers(cache.Indexers{"version": byVersion})) // over what is stored already
		wantIndex := func(index, value string, want ...string) {
			t.Helper()
			synctest.Wait()
			got, err := r.GetIndexer().IndexKeys(index, value)
			slices.Sort(got)
			if err != nil || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %v, %v; want %v", index, value, got, err, want)
			}
		}
		wantIndex(cache.NamespaceIndex, "ns", "ns/a", "ns/b")
		wantIndex("name", "a", "ns/a")
		wantIndex("version", "1", "ns/a", "ns/b")
		w := r.server.NextWatch()
		w.Modify(configMap("a", "2"))
		wantIndex("version", "1", "ns/b")
		wantIndex("version", "2", "ns/a")
		w.Delete(configMap("a", "3"))
		wantIndex("version", "2")
		wantIndex("name", "a")
		if err := r.AddIndexers(cache.Indexers{"name": byName}); err == nil {
			t.Error("AddIndexers() = nil for a name that is taken")
		}
		r.stop()
		if err := r.AddIndexers(cache.Indexers{"another": byName}); err == nil {
			t.Error("AddIndexers() = nil after the end")
		}
	})
}

// An index function that takes an object, and fails over the same object later.
// Client-go's informer panics then, and has stopped; the object stays.
func TestADeleteOfAnObjectThatAnIndexFunctionFailsOver(t *testing.T) {
	for name, want := range map[string][]string{"client-go": {"OnAdd a 2"}, "ours": {"OnAdd a 2", "OnDelete a 3"}} {
		inFakeTime(t, func(t *testing.T) {
			whenPanicking(t, true, func(context.Context, any) {})
			fails := false
			r := newRig(implementations[name], cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
				"name": func(obj any) ([]string, error) {
					if fails {
						return nil, errors.New("not any more")
					}
					return byName(obj)
				},
			}})
			handler := r.recorder(t)
			ctx, cancel := context.WithCancel(t.Context())
			panicked := r.runAndRecover(ctx)
			w := r.server.NextWatch()
			w.Add(configMap("a", "2"))
			synctest.Wait()
			fails = true
			w.Delete(configMap("a", "3"))
			handler.Want(t, want...)
			found, err := r.GetIndexer().ByIndex("name", "a")
			if gone := name == "ours"; len(keys(r.GetStore())) == 0 != gone || len(found) == 0 != gone || err != nil {
				t.Errorf("%s: stored %v; in the index %v, %v", name, keys(r.GetStore()), found, err)
			}
			if r.IsStopped() != (name == "client-go") {
				t.Errorf("%s: IsStopped() = %t", name, r.IsStopped())
			}
			cancel()
			if p := <-panicked; (p != nil) != (name == "client-go") {
				t.Errorf("%s: RunWithContext panics with %v", name, p)
			}
		})
	}
}

// Of the reflector, and of the store: both follow lists, events and bookmarks.
func TestLastSyncResourceVersion(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		wantVersion := func(when, want string) {
			t.Helper()
			synctest.Wait()
			for what, got := range map[string]string{
				"LastSyncResourceVersion":                   r.LastSyncResourceVersion(),
				"GetController().LastSyncResourceVersion":   r.GetController().LastSyncResourceVersion(),
				"GetStore().LastStoreSyncResourceVersion()": r.GetStore().LastStoreSyncResourceVersion(),
			} {
				if got != want {
					t.Errorf("%s: %s() = %q, want %q", when, what, got, want)
				}
			}
		}
		wantVersion("before the start", "")
		release := hold(r)
		r.run(t)
		wantVersion("before the list", "")
		release()
		wantVersion("after the list", "1")
		w := r.server.NextWatch()
		w.Modify(configMap("a", "20"))
		wantVersion("after an event", "20")
		w.Action(watch.Bookmark, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "30"}})
		wantVersion("after a bookmark", "30")
		w.Delete(configMap("a", "31"))
		wantVersion("after a delete", "31")
		w.Delete(configMap("unknown", "32"))
		wantVersion("after a delete of something unknown", "32")
		r.stop()
		wantVersion("after the end", "32")
	})
}

// "GetController is deprecated, it does nothing useful": what it returns can be
// asked, and not run.
func TestGetController(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		controller := r.GetController()
		controller.Run(t.Context().Done())
		controller.RunWithContext(t.Context())
		synctest.Wait()
		if lists := r.server.Lists(); lists != 0 || r.IsStopped() {
			t.Errorf("%d lists, stopped: %t; want none, false", lists, r.IsStopped())
		}
		wantSynced(t, "before the start", false, controller)
		r.run(t)
		wantSynced(t, "after the list", true, controller)
		if version := controller.LastSyncResourceVersion(); version != "1" {
			t.Errorf("LastSyncResourceVersion() = %q", version)
		}
	})
}

// Nobody should write to the store of an informer. If somebody does, a handler
// that joins and a handler that gets a resync get objects all the same.
func TestNoHandlerGetsNil(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, resyncing(time.Minute))
		r.run(t)
		var writing sync.WaitGroup
		over := make(chan struct{})
		for n := range 2 {
			writing.Go(func() {
				for i := 0; ; i++ {
					obj := configMap(fmt.Sprint(n, "-", i%50), fmt.Sprint(i))
					if err := errors.Join(r.GetStore().Add(obj), r.GetStore().Delete(obj)); err != nil {
						t.Error(err)
					}
					select {
					case <-over:
						return
					default:
					}
				}
			})
		}
		isNil := func(obj any) {
			if obj == nil {
				t.Error("a handler gets nil")
			}
		}
		for range 300 {
			r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: isNil, UpdateFunc: func(old, obj any) {
				isNil(old)
				isNil(obj)
			}}, every(time.Minute))
			must.Do(t, changes{r.SharedIndexInformer.(*Informer)}.Resync())
		}
		close(over)
		writing.Wait()
	})
}
