package store

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// The objects of these tests are strings, which are their own keys.
func stringKey(obj any) (string, error) { return obj.(string), nil }

// While an index function runs, no other write and no AddIndexers can come between. But a reader
// can get an object.
func TestPutHoldsOneLockWhileAnIndexFunctionRuns(t *testing.T) {
	var s *Store
	s = New(Options{KeyFunction: stringKey, Indexers: cache.Indexers{"locks": func(any) ([]string, error) {
		if s.mu.TryLock() {
			s.mu.Unlock()
			t.Error("mu is free while Put calls an index function, want it locked")
		}
		if s.stateMu.TryLock() {
			s.stateMu.Unlock()
		} else {
			t.Error("stateMu is locked while Put calls an index function, want it free")
		}
		return nil, nil
	}}})
	must.NoError(t, s.Add("a"))
}

// A versionMetric is the metric of a store's version, and a provider of it. It calls a function
// when the store publishes the version.
type versionMetric struct {
	cache.InformerMetricsProvider // nil: the store asks for no other metric
	published                     func(version float64)
}

func (m versionMetric) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return m
}

func (m versionMetric) Set(version float64) { m.published(version) }

// A reader has one of the locks. So a write has both while it changes the store.
func TestAWriteHoldsBothLocksWhileItChangesTheStore(t *testing.T) {
	informerName, err := cache.NewInformerName(t.Name())
	must.NoError(t, err)
	defer informerName.Release()
	var s *Store
	var write string
	var versions []float64
	s = New(Options{
		Identifier: informerName.WithResource(corev1.SchemeGroupVersion.WithResource("pods")),
		MetricsProvider: versionMetric{published: func(version float64) {
			versions = append(versions, version)
			if s.mu.TryLock() {
				s.mu.Unlock()
				t.Errorf("mu is free while %s changes the store, want it locked", write)
			}
			if s.stateMu.TryRLock() {
				s.stateMu.RUnlock()
				t.Errorf("stateMu is free for readers while %s changes the store, want it locked", write)
			}
		}},
	})
	pod := func(version string) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: version}}
	}
	write = "Put"
	_, err = s.Put("a", pod("1"))
	must.NoError(t, err)
	write = "Remove"
	s.Remove("a", pod("2"))
	write = "ReplaceAll"
	_, _, err = s.ReplaceAll([]string{"a"}, []any{pod("1")}, "3")
	must.NoError(t, err)
	write = "Bookmark"
	s.Bookmark("4")
	if want := []float64{1, 2, 3, 4}; !slices.Equal(versions, want) {
		t.Errorf("Put, Remove, ReplaceAll and Bookmark have published the versions %v, want %v", versions, want)
	}
}

// Many goroutines write under one key, and the first one has the lock until all have begun. Each
// gets the object of the write before its own, so no two get the same.
func TestPutReturnsTheObjectOfTheWriteBefore(t *testing.T) {
	const writers = 100
	var started atomic.Int32
	s := New(Options{KeyFunction: stringKey, Indexers: cache.Indexers{"slow": func(any) ([]string, error) {
		for started.Load() < writers {
			runtime.Gosched()
		}
		return nil, nil
	}}})
	olds := make([]any, writers)
	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			started.Add(1)
			old, err := s.Put("a", fmt.Sprint("write ", i))
			if err != nil {
				t.Error(err)
			}
			olds[i] = old
		})
	}
	writing.Wait()
	returned := map[any]bool{}
	for _, old := range olds {
		returned[old] = true
	}
	last, _, _ := s.GetByKey("a")
	if len(returned) != writers || returned[last] {
		t.Errorf("%d calls of Put under one key returned %d different objects, the last one among them: %t; "+
			"want %d, false: nil, and each object except for the last", writers, len(returned), returned[last], writers)
	}
}

func TestAWriteChangesAllIndexes(t *testing.T) {
	const indexes = 20
	indexers := cache.Indexers{}
	for i := range indexes {
		indexers[fmt.Sprint(i)] = func(obj any) ([]string, error) { return []string{fmt.Sprint(obj, " in ", i)}, nil }
	}
	s := New(Options{Indexers: indexers})
	for _, obj := range []string{"old", "new"} {
		_, err := s.Put("a", obj)
		must.NoError(t, err)
		for i := range indexes {
			got, want := s.ListIndexFuncValues(fmt.Sprint(i)), []string{fmt.Sprint(obj, " in ", i)}
			if !slices.Equal(got, want) {
				t.Errorf("after Put of %q, ListIndexFuncValues(%d) = %q, want %q", obj, i, got, want)
			}
		}
	}
}

func TestAnObjectWithoutAVersionLeavesTheVersionOfTheStore(t *testing.T) {
	s := New(Options{KeyFunction: stringKey})
	s.Bookmark("5")
	must.NoError(t, s.Add("a"))
	if got := s.LastStoreSyncResourceVersion(); got != "5" {
		t.Errorf("LastStoreSyncResourceVersion() = %q, want 5", got)
	}
}
