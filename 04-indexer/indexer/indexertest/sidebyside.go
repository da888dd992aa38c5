// Details in which a store has to be the same as client-go's.

package indexertest

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// A list without items can be nil or empty. A caller that encodes it as JSON sees the difference:
// null or [].
func nilAndEmptyAreAsInClientGo(t *testing.T, newStore New) {
	t.Helper()
	stores := func() (theirs, ours cache.Indexer) {
		indexers := func() cache.Indexers {
			return cache.Indexers{"app": func(obj any) ([]string, error) {
				if obj.(*corev1.Pod).Name == "bad" {
					return nil, errors.New("a bad pod")
				}
				return []string{obj.(*corev1.Pod).Labels["app"]}, nil
			}}
		}
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers()),
			newStore(cache.MetaNamespaceKeyFunc, indexers())
	}
	bad := PodOfApp(1, "bad")
	bad.Name = "bad"
	reads := map[string]func(cache.Indexer) string{
		"List":     func(s cache.Indexer) string { return describe(s.List(), nil) },
		"ListKeys": func(s cache.Indexer) string { return describe(s.ListKeys(), nil) },
	}
	for _, name := range []string{"app", "none"} {
		reads["ListIndexFuncValues of "+name] = func(s cache.Indexer) string {
			return describe(s.ListIndexFuncValues(name), nil)
		}
		reads["ByIndex of "+name] = func(s cache.Indexer) string { return describe(s.ByIndex(name, "mail")) }
		reads["IndexKeys of "+name] = func(s cache.Indexer) string { return describe(s.IndexKeys(name, "mail")) }
		reads["Index of "+name] = func(s cache.Indexer) string { return describe(s.Index(name, PodOfApp(1, "mail"))) }
		reads["Index of "+name+", which fails"] = func(s cache.Indexer) string { return describe(s.Index(name, bad)) }
	}
	for state, write := range map[string]func(cache.Indexer) error{
		"never written": func(s cache.Indexer) error { return nil },
		"one object":    func(s cache.Indexer) error { return s.Add(PodOfApp(1, "web")) },
		"an empty list": func(s cache.Indexer) error { return s.Replace(nil, "1") },
		"one that is gone": func(s cache.Indexer) error {
			if err := s.Add(PodOfApp(1, "web")); err != nil {
				return err
			}
			return s.Delete(PodOfApp(1, "web"))
		},
	} {
		theirs, ours := stores()
		must.NoError(t, write(theirs))
		must.NoError(t, write(ours))
		for name, read := range reads {
			if got, want := read(ours), read(theirs); got != want {
				t.Errorf("%s, %s: our store returns %s, want %s as client-go's", state, name, got, want)
			}
		}
	}
}

// describe says whether a list is nil, and how long it is; and it adds the error.
func describe[T any](list []T, err error) string {
	if list == nil {
		return fmt.Sprintf("nil, error %v", err)
	}
	return fmt.Sprintf("%d items, error %v", len(list), err)
}

// To write a nil pointer panics, as in client-go's store, before anything has changed.
func aTypedNilChangesNothing(t *testing.T, newStore New) {
	t.Helper()
	byType := func(obj any) (string, error) { return fmt.Sprintf("%T", obj), nil }
	for name, s := range map[string]cache.Indexer{
		"client-go's": cache.NewIndexer(byType, cache.Indexers{}),
		"ours":        newStore(byType, cache.Indexers{}),
	} {
		wantPanic := func(method string, write func(any) error) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: %s of a typed nil does not panic", name, method)
				}
			}()
			must.NoError(t, write((*corev1.Pod)(nil)))
		}
		wantPanic("Add", s.Add)
		if keys := s.ListKeys(); len(keys) != 0 {
			t.Errorf("%s: keys after Add of a typed nil: %q, want none", name, keys)
		}
		must.NoError(t, s.Add(Pod(1, 1)))
		wantPanic("Delete", s.Delete)
		if keys := s.ListKeys(); len(keys) != 1 {
			t.Errorf("%s: keys after Delete of a typed nil: %q, want the key of the pod", name, keys)
		}
		must.NoError(t, s.Update(Pod(1, 2))) // no lock is held
		if got := s.LastStoreSyncResourceVersion(); got != "2" {
			t.Errorf("%s: LastStoreSyncResourceVersion() = %q, want %q", name, got, "2")
		}
	}
}

// client-go's store does not promise this: the map of index functions that a store is made with, and
// the one that GetIndexers returns, are not the store's own.
func theMapsOfIndexersAreCopied(t *testing.T, newStore New) {
	t.Helper()
	passed := ByNamespace()
	first, second := newStore(cache.MetaNamespaceKeyFunc, passed), newStore(cache.MetaNamespaceKeyFunc, passed)
	must.NoError(t, first.AddIndexers(cache.Indexers{"letters": valuesOf}))
	if len(passed) != 1 {
		t.Errorf("the map that the store was made with has %d functions after AddIndexers, want 1", len(passed))
	}
	first.GetIndexers()["written"] = valuesOf
	for name, want := range map[string][2]bool{ // by index: which of the stores has it
		cache.NamespaceIndex: {true, true},
		"letters":            {true, false},
		"written":            {false, false},
	} {
		for i, s := range []cache.Indexer{first, second} {
			if _, err := s.ByIndex(name, "a"); (err == nil) != want[i] {
				t.Errorf("store %d, index %s: error %v; want the index: %t", i+1, name, err, want[i])
			}
		}
	}
	must.NoError(t, newStore(cache.MetaNamespaceKeyFunc, nil).AddIndexers(ByNamespace())) // client-go's panics
}
