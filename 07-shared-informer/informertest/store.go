// The store and its indexes.

package informertest

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// "The local cache starts out empty, and gets populated and updated during Run()." Its keys are
// namespace/name, or the name alone.
func storeHoldsWhatTheServerHas(t *testing.T, newInformer New) {
	global := configMap("global", "1")
	global.Namespace = ""
	r := newRig(newInformer, options{}, configMap("a", "1"), global)
	r.wantKeys(t, "before the start")
	r.run(t)
	r.wantKeys(t, "after the list", "global", "ns/a")
	w := r.server.nextWatch()
	b := configMap("b", "2")
	w.Add(b)
	r.wantKeys(t, "after an add", "global", "ns/a", "ns/b")
	stored, exists, err := r.GetStore().GetByKey("ns/b")
	if stored != any(b) || !exists || err != nil {
		t.Errorf("GetByKey(ns/b) = %v, %t, %v; want the same pointer as in the event, true, nil", stored, exists, err)
	}
	w.Delete(configMap("a", "3"))
	r.wantKeys(t, "after a delete", "global", "ns/b")
	r.server.relist(w, configMap("c", "4"))
	r.wantKeys(t, "after another list", "ns/c")
	if r.GetStore() != cache.Store(r.GetIndexer()) {
		t.Errorf("GetStore() = %p and GetIndexer() = %p, want the same store", r.GetStore(), r.GetIndexer())
	}
}

func byName(obj any) ([]string, error) { return []string{obj.(metav1.Object).GetName()}, nil }

func indexesEarlyAndLate(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{
		indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
	}, configMap("a", "1"), configMap("b", "1"))
	noError(t, r.AddIndexers(cache.Indexers{"name": byName}))
	r.run(t)
	noError(t, r.AddIndexers(cache.Indexers{"version": byVersion})) // over what is stored already
	wantIndex := func(index, value string, want ...string) {
		t.Helper()
		synctest.Wait()
		got, err := r.GetIndexer().IndexKeys(index, value)
		slices.Sort(got)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("IndexKeys(%q, %q) = %q, %v; want %q, nil", index, value, got, err, want)
		}
	}
	wantIndex(cache.NamespaceIndex, "ns", "ns/a", "ns/b")
	wantIndex("name", "a", "ns/a")
	wantIndex("version", "1", "ns/a", "ns/b")
	w := r.server.nextWatch()
	w.Modify(configMap("a", "2"))
	wantIndex("version", "1", "ns/b")
	wantIndex("version", "2", "ns/a")
	w.Delete(configMap("a", "3"))
	wantIndex("version", "2")
	wantIndex("name", "a")
	if err := r.AddIndexers(cache.Indexers{"name": byName}); err == nil {
		t.Error("AddIndexers() = nil for a name that is taken, want an error")
	}
	r.stop()
	const want = "was not added because it has stopped already"
	if err := r.AddIndexers(cache.Indexers{"another": byName}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("AddIndexers() = %v after the end, want an error that contains %q", err, want)
	}
}

func nilIndexers(t *testing.T, newInformer New) {
	shared := newInformer(newServer(), &corev1.ConfigMap{}, 0, nil)
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("AddIndexers panicked with %v, want no panic", p)
		}
	}()
	noError(t, shared.AddIndexers(cache.Indexers{"name": byName}))
}

func callersIndexers(t *testing.T, newInformer New) {
	indexers := cache.Indexers{"name": byName}
	shared := newInformer(newServer(), &corev1.ConfigMap{}, 0, indexers)
	noError(t, shared.AddIndexers(cache.Indexers{"version": byVersion}))
	if got := slices.Sorted(maps.Keys(indexers)); !slices.Equal(got, []string{"name"}) {
		t.Errorf("the caller's map has %q after AddIndexers, want %q", got, []string{"name"})
	}
}
