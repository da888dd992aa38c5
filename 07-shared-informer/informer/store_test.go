// The store, its indexes, and how far they have come.

package informer

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

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
			expect.That(t, err == nil && slices.Equal(got, want),
				"%s, %s: %v, %v; want %v", index, value, got, err, want)
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
		err := r.AddIndexers(cache.Indexers{"name": byName})
		expect.That(t, err != nil, "AddIndexers() = nil for a name that is taken")
		r.stop()
		err = r.AddIndexers(cache.Indexers{"another": byName})
		expect.That(t, err != nil, "AddIndexers() = nil after the end")
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
			expect.That(t, r.IsStopped() == (name == "client-go"), "%s: IsStopped() = %t", name, r.IsStopped())
			cancel()
			p := <-panicked
			expect.That(t, (p != nil) == (name == "client-go"), "%s: RunWithContext panics with %v", name, p)
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
				expect.That(t, got == want, "%s: %s() = %q, want %q", when, what, got, want)
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
