// Tests of the store, its indexes, and its version.

package informer_test

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

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

func byName(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }

// An index function accepts an object, and fails for the same object later. Then client-go's
// informer panics and has stopped, and the object stays in its store. So does ours with an indexer.
func TestADeleteOfAnObjectThatAnIndexFunctionFailsOver(t *testing.T) {
	type outcome struct {
		calls   []string
		keys    []string // in the store, after the delete
		indexed int      // objects in the index, after the delete
		panics  bool     // RunWithContext panics, and the informer has stopped
	}
	for name, want := range each(map[string]outcome{
		"ours":      {calls: []string{"OnAdd a 2"}, keys: []string{"ns/a"}, indexed: 1, panics: true},
		"client-go": {calls: []string{"OnAdd a 2"}, keys: []string{"ns/a"}, indexed: 1, panics: true},
		"snapshots": {calls: []string{"OnAdd a 2", "OnDelete a 3"}, keys: nil, indexed: 0, panics: false},
		"part-two":  {calls: []string{"OnAdd a 2", "OnDelete a 3"}, keys: nil, indexed: 0, panics: false},
	}) {
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
			handler.Want(t, want.calls...)
			if got := keys(r.GetStore()); !slices.Equal(got, want.keys) {
				t.Errorf("%s: ListKeys() = %q, want %q", name, got, want.keys)
			}
			found, err := r.GetIndexer().ByIndex("name", "a")
			if err != nil || len(found) != want.indexed {
				t.Errorf(`%s: ByIndex("name", "a") = %d objects, %v; want %d, nil`, name, len(found), err, want.indexed)
			}
			if got := r.IsStopped(); got != want.panics {
				t.Errorf("%s: IsStopped() = %t, want %t", name, got, want.panics)
			}
			cancel()
			p := <-panicked
			if got := p != nil; got != want.panics {
				t.Errorf("%s: RunWithContext panicked with %v, panicked = %t; want %t", name, p, got, want.panics)
			}
		})
	}
}

// The version of the reflector and the version of the store follow lists, events and bookmarks.
func TestLastSyncResourceVersion(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		wantVersion := func(when, want string) {
			t.Helper()
			synctest.Wait()
			for getter, got := range map[string]string{
				"LastSyncResourceVersion":                 r.LastSyncResourceVersion(),
				"GetController().LastSyncResourceVersion": r.GetController().LastSyncResourceVersion(),
				"GetStore().LastStoreSyncResourceVersion": r.GetStore().LastStoreSyncResourceVersion(),
			} {
				if got != want {
					t.Errorf("%s: %s() = %q, want %q", when, getter, got, want)
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

// "GetController is deprecated, it does nothing useful": the controller answers questions, and its
// Run does nothing.
func TestGetController(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		controller := r.GetController()
		controller.Run(t.Context().Done())
		controller.RunWithContext(t.Context())
		synctest.Wait()
		if lists := r.server.Lists(); lists != 0 {
			t.Errorf("Lists() = %d after the controller's Run, want 0", lists)
		}
		if r.IsStopped() {
			t.Error("IsStopped() = true after the controller's Run, want false")
		}
		wantSynced(t, "before the start", false, controller)
		r.run(t)
		wantSynced(t, "after the list", true, controller)
		if version := controller.LastSyncResourceVersion(); version != "1" {
			t.Errorf("LastSyncResourceVersion() = %q, want 1", version)
		}
	})
}

// Nobody should write to the store of an informer. If somebody does, the handlers that join and the
// handlers that get a resync still get objects.
func TestNoHandlerGetsNil(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Minute))
		r.run(t)
		var writing sync.WaitGroup
		over := make(chan struct{})
		for writer := range 2 {
			writing.Go(func() {
				for i := 0; ; i++ {
					obj := configMap(fmt.Sprint(writer, "-", i%50), fmt.Sprint(i))
					if err := errors.Join(r.GetStore().Add(obj), r.GetStore().Delete(obj)); err != nil {
						t.Errorf("writing %s: %v", obj.Name, err)
					}
					select {
					case <-over:
						return
					default:
					}
				}
			})
		}
		handler := cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				if obj == nil {
					t.Error("OnAdd(nil), want an object")
				}
			},
			UpdateFunc: func(oldObj, newObj any) {
				if oldObj == nil || newObj == nil {
					t.Errorf("OnUpdate(%v, %v), want objects", oldObj, newObj)
				}
			},
		}
		for range 300 {
			r.handle(t, handler, every(time.Minute))
			must.NoError(t, r.SharedIndexInformer.(*informer.Informer).Resync())
		}
		close(over)
		writing.Wait()
	})
}
