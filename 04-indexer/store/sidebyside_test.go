package store_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/must"
)

// An answer of nothing is nil in some places and empty in others. A caller that
// encodes it as JSON sees null or []. Ours answers what client-go's answers.
func TestNilAndEmptyAreAsInClientGo(t *testing.T) {
	stores := func() (theirs, ours cache.Indexer) {
		indexers := func() cache.Indexers {
			return cache.Indexers{"app": func(obj any) ([]string, error) {
				if obj.(*corev1.Pod).Name == "bad" {
					return nil, fmt.Errorf("a bad pod")
				}
				return []string{obj.(*corev1.Pod).Labels["app"]}, nil
			}}
		}
		return cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers()),
			store.New(store.Options{KeyFunction: cache.MetaNamespaceKeyFunc, Indexers: indexers()})
	}
	bad := app(1, "bad")
	bad.Name = "bad"
	questions := map[string]func(cache.Indexer) string{
		"List":     func(s cache.Indexer) string { return kind(s.List(), nil) },
		"ListKeys": func(s cache.Indexer) string { return kind(s.ListKeys(), nil) },
	}
	for _, name := range []string{"app", "none"} {
		questions["ListIndexFuncValues of "+name] = func(s cache.Indexer) string {
			return kind(s.ListIndexFuncValues(name), nil)
		}
		questions["ByIndex of "+name] = func(s cache.Indexer) string { return kind(s.ByIndex(name, "mail")) }
		questions["IndexKeys of "+name] = func(s cache.Indexer) string { return kind(s.IndexKeys(name, "mail")) }
		questions["Index of "+name] = func(s cache.Indexer) string { return kind(s.Index(name, app(1, "mail"))) }
		questions["Index of "+name+", which fails"] = func(s cache.Indexer) string { return kind(s.Index(name, bad)) }
	}
	for state, write := range map[string]func(cache.Indexer) error{
		"never written": func(s cache.Indexer) error { return nil },
		"one object":    func(s cache.Indexer) error { return s.Add(app(1, "web")) },
		"an empty list": func(s cache.Indexer) error { return s.Replace(nil, "1") },
		"one that is gone": func(s cache.Indexer) error {
			if err := s.Add(app(1, "web")); err != nil {
				return err
			}
			return s.Delete(app(1, "web"))
		},
	} {
		theirs, ours := stores()
		must.Do(t, write(theirs))
		must.Do(t, write(ours))
		for name, ask := range questions {
			if got, want := ask(ours), ask(theirs); got != want {
				t.Errorf("%s, %s: got %s, want client-go's %s", state, name, got, want)
			}
		}
	}
}

// kind is whether a list is nil, and how long it is; with the error.
func kind[T any](list []T, err error) string {
	if list == nil {
		return fmt.Sprintf("nil, error %v", err)
	}
	return fmt.Sprintf("%d items, error %v", len(list), err)
}

// To read the version of a nil pointer is a panic, in client-go's store, too. It
// comes before anything is changed.
func TestATypedNilChangesNothing(t *testing.T) {
	byType := func(obj any) (string, error) { return fmt.Sprintf("%T", obj), nil }
	for name, s := range map[string]cache.Indexer{
		"client-go's": cache.NewIndexer(byType, cache.Indexers{}),
		"ours":        store.New(store.Options{KeyFunction: byType}),
	} {
		panics := func(what string, write func(any) error) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: %s of a typed nil does not panic", name, what)
				}
			}()
			must.Do(t, write((*corev1.Pod)(nil)))
		}
		panics("Add", s.Add)
		if keys := s.ListKeys(); len(keys) != 0 {
			t.Errorf("%s: Add of a typed nil has stored %v, want nothing", name, keys)
		}
		must.Do(t, s.Add(pod(1, 1)))
		panics("Delete", s.Delete)
		if keys := s.ListKeys(); len(keys) != 1 {
			t.Errorf("%s: Delete of a typed nil leaves %v, want the pod", name, keys)
		}
		must.Do(t, s.Update(pod(1, 2))) // no lock is held
		if got := s.LastStoreSyncResourceVersion(); got != "2" {
			t.Errorf("%s: as of version %q, want 2", name, got)
		}
	}
}

// The values of an index can be large. Those of an object that is gone, or that was
// refused, are garbage with the object, and not only after the next write.
func TestTheStoreKeepsNoIndexValuesOfAnObjectThatIsGone(t *testing.T) {
	var values weak.Pointer[string]
	large := func(any) ([]string, error) {
		all := []string{strings.Repeat("x", 1<<20)}
		values = weak.Make(&all[0])
		return all, nil
	}
	picky := func(obj any) ([]string, error) {
		if obj.(*corev1.Pod).ResourceVersion == "7" {
			return nil, fmt.Errorf("not version 7")
		}
		return nil, nil
	}
	s := store.New(store.Options{Indexers: cache.Indexers{"large": large}})
	must.Do(t, s.AddIndexers(cache.Indexers{"picky": picky})) // it is called after the other one
	must.Do(t, s.Add(pod(1, 1)))
	must.Do(t, s.Delete(pod(1, 1)))
	if runtime.GC(); values.Value() != nil {
		t.Error("the values of a deleted object are in memory")
	}
	if err := s.Add(pod(2, 7)); err == nil {
		t.Fatal("no error of the index function")
	}
	if runtime.GC(); values.Value() != nil {
		t.Error("the values of an object that was refused are in memory")
	}
	runtime.KeepAlive(s)
}
