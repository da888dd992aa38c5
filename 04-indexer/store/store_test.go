package store_test

import (
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"weak"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// pod returns the pod number i, in one of three namespaces, in a version.
func pod(i, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns-" + strconv.Itoa(i%3), Name: "pod-" + strconv.Itoa(i), ResourceVersion: strconv.Itoa(version),
	}}
}

// version returns the version of a pod as a number.
func version(t *testing.T, obj any) int {
	t.Helper()
	n, err := strconv.Atoi(obj.(*corev1.Pod).ResourceVersion)
	must.Do(t, err)
	return n
}

// byNamespace returns an index by namespace.
func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// A reader writes to the store in the middle of a loop over a snapshot. If the store were
// locked while a reader reads, the reader would wait for itself.
func TestAWriteDoesNotWaitForReaders(t *testing.T) {
	s := store.New(store.Options{Indexers: byNamespace()})
	for i := range 1000 {
		must.Do(t, s.Add(pod(i, i)))
	}
	snapshot := s.Snapshot()
	read := 0
	for range snapshot.All() {
		must.Do(t, s.Update(pod(read, 1000+read)))
		must.Do(t, s.Delete(pod(999-read, 0)))
		read++
	}
	if read != 1000 {
		t.Errorf("All() yields %d objects, want 1000", read)
	}
	if got := len(snapshot.List()); got != 1000 {
		t.Errorf("len(List()) = %d, want 1000", got)
	}
	if got := snapshot.Len(); got != 1000 {
		t.Errorf("Len() = %d, want 1000", got)
	}
	if got := snapshot.Version(); got != "999" {
		t.Errorf("Version() = %q, want %q", got, "999")
	}
	for _, obj := range snapshot.List() {
		if got := version(t, obj); got > 999 {
			t.Errorf("an object in the snapshot has version %d, want at most 999", got)
		}
	}
}

// A reader of one object waits while a write changes the state; otherwise there would be
// a data race. It does not wait for an index function.
func TestGetWaitsForAChangeAndNotForAnIndexFunction(t *testing.T) {
	var s *store.Store
	get := func() <-chan struct{} {
		got := make(chan struct{})
		go func() {
			s.GetByKey("a")
			close(got)
		}()
		return got
	}
	s = store.New(store.Options{Indexers: cache.Indexers{"slow": func(any) ([]string, error) {
		select {
		case <-get():
		case <-time.After(time.Minute):
			t.Fatal("GetByKey waits until an index function has returned")
		}
		return nil, nil
	}}})
	var before any
	for v := range 100 {
		got := get()
		obj := pod(1, v)
		old, err := s.Put("a", obj)
		if err != nil || old != before {
			t.Fatalf("Put number %d = %v, %v; want %v, nil", v+1, old, err, before)
		}
		before = obj
		<-got
	}
}

// Each write updates the next of ten pods, and raises the version by one. So the state
// with version v has pods with the versions v-9 to v, and no others.
func TestAReaderSeesAStateThatExisted(t *testing.T) {
	const pods, writes = 10, 20_000
	s := store.New(store.Options{Indexers: cache.Indexers{
		"all": func(any) ([]string, error) { return []string{"pods"}, nil },
	}})
	for v := range pods {
		must.Do(t, s.Add(pod(v, v)))
	}
	check := func(objs []any, asOf int) {
		versions := map[int]bool{}
		for _, obj := range objs {
			versions[version(t, obj)] = true
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
			v = max(v, version(t, obj))
		}
		return v
	}
	var reading sync.WaitGroup
	over := make(chan struct{})
	for _, read := range []func() (objs []any, asOf int){
		func() ([]any, int) {
			now := s.Snapshot()
			asOf, _ := strconv.Atoi(now.Version())
			return now.List(), asOf
		},
		func() ([]any, int) {
			objs := s.List()
			return objs, highest(objs)
		},
		func() ([]any, int) {
			objs, _ := s.ByIndex("all", "pods")
			return objs, highest(objs)
		},
	} {
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
		must.Do(t, s.Update(pod(v%pods, v)))
	}
	close(over)
	reading.Wait()
}

// contents returns everything that a store holds: its version, the addresses of its
// objects by key, and the keys of its indexes by value.
func contents(s cache.Indexer) map[string]string {
	all := map[string]string{"version": s.LastStoreSyncResourceVersion()}
	for _, obj := range s.List() {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		all[key] = fmt.Sprintf("%p", obj)
	}
	for name := range s.GetIndexers() {
		for _, value := range s.ListIndexFuncValues(name) {
			keys, err := s.IndexKeys(name, value)
			all[name+"="+value] = fmt.Sprint(keys, err)
		}
	}
	return all
}

func TestAWriteThatFailsChangesNothing(t *testing.T) {
	fails := func(obj any) ([]string, error) {
		switch p := obj.(*corev1.Pod); p.Labels["index"] {
		case "fails":
			return nil, errors.New("it does not like this pod")
		case "panics":
			panic("not this one")
		default:
			return []string{p.Name}, nil
		}
	}
	bad := func(i int, how string) *corev1.Pod {
		p := pod(i, 7)
		p.Labels = map[string]string{"index": how}
		return p
	}
	s := store.New(store.Options{Indexers: cache.Indexers{"first": cache.MetaNamespaceIndexFunc, "picky": fails}})
	must.Do(t, s.Add(pod(0, 1)))
	must.Do(t, s.Add(pod(1, 2)))
	before := contents(s)
	for name, write := range map[string]func() error{
		"add":     func() error { return s.Add(bad(2, "fails")) },
		"panic":   func() error { return s.Add(bad(2, "panics")) },
		"update":  func() error { return s.Update(bad(0, "panics")) },
		"replace": func() error { return s.Replace([]any{pod(3, 3), bad(4, "fails")}, "9") },
		"no key":  func() error { return s.Replace([]any{pod(3, 3), "no object"}, "9") },
		"index": func() error {
			return s.AddIndexers(cache.Indexers{"late": func(any) ([]string, error) { panic("late") }})
		},
		"same index": func() error { return s.AddIndexers(cache.Indexers{"late": fails, "picky": fails}) },
	} {
		if err := write(); err == nil {
			t.Errorf("%s: no error, want one", name)
		}
		if diff := cmp.Diff(before, contents(s)); diff != "" {
			t.Errorf("%s has changed the store (-before +after):\n%s", name, diff)
		}
	}
	err := s.Update(bad(1, "fails"))
	if want := `key "ns-1/pod-1" on index "picky"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Update() = %v, want an error with %q", err, want)
	}
	must.Do(t, s.Add(pod(5, 5))) // the store still works
}

// Deleted objects and replaced objects are garbage.
func TestTheStoreKeepsNothingAlive(t *testing.T) {
	s := store.New(store.Options{Indexers: byNamespace()})
	const many = 2000
	var pods []weak.Pointer[corev1.Pod]
	for v := range 2 {
		for i := range many {
			p := pod(i, v)
			pods = append(pods, weak.Make(p))
			must.Do(t, s.Add(p))
		}
	}
	s.Snapshot() // nobody has it
	for i := range many {
		if i != 1500 {
			must.Do(t, s.Delete(pod(i, 9)))
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

// A write after a snapshot copies the parts that it changes. This must be little, even in
// a large store.
func TestHowMuchAWriteCopiesAfterASnapshot(t *testing.T) {
	const objects, writes = 100_000, 500
	s := store.New(store.Options{Indexers: byNamespace()})
	for i := range objects {
		must.Do(t, s.Add(pod(i, i)))
	}
	others := make([]any, writes)
	for i := range others {
		others[i] = pod(objects/2+i, objects+i)
	}
	for _, test := range []struct {
		name  string
		write func(i int) error
		limit int
	}{
		{"update", func(i int) error { return s.Update(others[i]) }, 2500},
		{"delete", func(i int) error { return s.Delete(others[i]) }, 10_000},
		{"add", func(i int) error { return s.Add(others[i]) }, 10_000},
	} {
		before := usage.Allocated()
		for i := range others {
			s.Snapshot()
			must.Do(t, test.write(i))
		}
		copied := (usage.Allocated() - before) / writes
		t.Logf("%s: %d bytes for each write", test.name, copied)
		if copied > test.limit {
			t.Errorf("%s: %d bytes for each write, want at most %d", test.name, copied, test.limit)
		}
	}
}
