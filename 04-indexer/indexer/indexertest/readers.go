// Readers beside a writer, and objects that a store must not keep in memory.

package indexertest

import (
	"maps"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"weak"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// Readers check a store while it is written: they list it, look it up by an index, and take
// snapshots.
//
// Each write updates the next of ten pods, and raises the version by one. So the state with version
// v has pods with the versions v-9 to v, and no others.
func aReaderSeesAStateThatExisted(t *testing.T, newStore New, takeSnapshot Snapshot) {
	s := newStore(cache.MetaNamespaceKeyFunc, nil)
	const pods, writes = 10, 20_000
	must.NoError(t, s.AddIndexers(cache.Indexers{
		"all": func(any) ([]string, error) { return []string{"pods"}, nil },
	}))
	for v := range pods {
		must.NoError(t, s.Add(Pod(v, v)))
	}
	check := func(objs []any, asOf int) {
		versions := map[int]bool{}
		for _, obj := range objs {
			versions[Version(t, obj)] = true
		}
		for v := asOf - pods + 1; v <= asOf; v++ {
			if !versions[v] {
				t.Errorf("state with version %d: version %d is missing in %v",
					asOf, v, slices.Sorted(maps.Keys(versions)))
			}
		}
	}
	highest := func(objs []any) (v int) {
		for _, obj := range objs {
			v = max(v, Version(t, obj))
		}
		return v
	}
	reads := []func() (objs []any, asOf int){
		func() ([]any, int) {
			objs := s.List()
			return objs, highest(objs)
		},
		func() ([]any, int) {
			objs, _ := s.ByIndex("all", "pods")
			return objs, highest(objs)
		},
	}
	if takeSnapshot != nil {
		reads = append(reads, func() ([]any, int) {
			list, version := takeSnapshot(s)
			asOf, _ := strconv.Atoi(version)
			return list(), asOf
		})
	}
	var reading sync.WaitGroup
	over := make(chan struct{})
	for _, read := range reads {
		reading.Go(func() {
			for !t.Failed() {
				check(read())
				select {
				case <-over:
					return
				default:
				}
			}
		})
	}
	for v := pods; v < writes; v++ {
		must.NoError(t, s.Update(Pod(v%pods, v)))
	}
	close(over)
	reading.Wait()
}

// Deleted objects and replaced objects are garbage.
func nothingIsKeptAlive(t *testing.T, newStore New) {
	s := newStore(cache.MetaNamespaceKeyFunc, ByNamespace())
	const many = 2000
	var pods []weak.Pointer[corev1.Pod]
	for v := range 2 {
		for i := range many {
			p := Pod(i, v)
			pods = append(pods, weak.Make(p))
			must.NoError(t, s.Add(p))
		}
	}
	s.List() // nobody has the list
	for i := range many {
		if i != 1500 {
			must.NoError(t, s.Delete(Pod(i, 9)))
		}
	}
	runtime.GC()
	left := 0
	for _, p := range pods {
		if p.Value() != nil {
			left++
		}
	}
	if left != 1 {
		t.Errorf("%d pods are in memory, want 1", left)
	}
	if got := len(s.List()); got != 1 {
		t.Errorf("%d pods are in the store, want 1", got)
	}
}
