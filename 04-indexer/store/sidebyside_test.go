// Details in which our store has to be the same as client-go's.

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

// A list without items can be nil or empty. A caller that encodes it as JSON sees the
// difference: null or []. Our store returns the same as client-go's.
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
	bad := podOfApp(1, "bad")
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
		reads["Index of "+name] = func(s cache.Indexer) string { return describe(s.Index(name, podOfApp(1, "mail"))) }
		reads["Index of "+name+", which fails"] = func(s cache.Indexer) string { return describe(s.Index(name, bad)) }
	}
	for state, write := range map[string]func(cache.Indexer) error{
		"never written": func(s cache.Indexer) error { return nil },
		"one object":    func(s cache.Indexer) error { return s.Add(podOfApp(1, "web")) },
		"an empty list": func(s cache.Indexer) error { return s.Replace(nil, "1") },
		"one that is gone": func(s cache.Indexer) error {
			if err := s.Add(podOfApp(1, "web")); err != nil {
				return err
			}
			return s.Delete(podOfApp(1, "web"))
		},
	} {
		theirs, ours := stores()
		must.Do(t, write(theirs))
		must.Do(t, write(ours))
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

// A write of a nil pointer panics, as in client-go's store. It panics before it changes
// anything.
func TestATypedNilChangesNothing(t *testing.T) {
	byType := func(obj any) (string, error) { return fmt.Sprintf("%T", obj), nil }
	for name, s := range map[string]cache.Indexer{
		"client-go's": cache.NewIndexer(byType, cache.Indexers{}),
		"ours":        store.New(store.Options{KeyFunction: byType}),
	} {
		wantPanic := func(method string, write func(any) error) {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: %s of a typed nil does not panic", name, method)
				}
			}()
			must.Do(t, write((*corev1.Pod)(nil)))
		}
		wantPanic("Add", s.Add)
		if keys := s.ListKeys(); len(keys) != 0 {
			t.Errorf("%s: keys after Add of a typed nil: %q, want none", name, keys)
		}
		must.Do(t, s.Add(pod(1, 1)))
		wantPanic("Delete", s.Delete)
		if keys := s.ListKeys(); len(keys) != 1 {
			t.Errorf("%s: keys after Delete of a typed nil: %q, want the key of the pod", name, keys)
		}
		must.Do(t, s.Update(pod(1, 2))) // no lock is held
		if got := s.LastStoreSyncResourceVersion(); got != "2" {
			t.Errorf("%s: LastStoreSyncResourceVersion() = %q, want %q", name, got, "2")
		}
	}
}

// The values of an index can be large. When an object is deleted, or its write fails, its
// values are garbage immediately, and not only after the next write.
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
	runtime.GC()
	if values.Value() != nil {
		t.Error("the values of a deleted object are still in memory")
	}
	if err := s.Add(pod(2, 7)); err == nil {
		t.Fatal("Add() = nil, want the error of the index function")
	}
	runtime.GC()
	if values.Value() != nil {
		t.Error("the values of an object whose Add failed are still in memory")
	}
	runtime.KeepAlive(s)
}
