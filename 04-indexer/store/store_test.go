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

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// pod is number i, in one of three namespaces, at a version.
func pod(i, version int) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns-" + strconv.Itoa(i%3), Name: "pod-" + strconv.Itoa(i), ResourceVersion: strconv.Itoa(version),
	}}
}

func version(t *testing.T, obj any) int {
	t.Helper()
	n, err := strconv.Atoi(obj.(*corev1.Pod).ResourceVersion)
	must.Do(t, err)
	return n
}

func byNamespace() cache.Indexers {
	return cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}
}

// Somebody who is in the middle of a list writes, and the write takes place: with
// a store that is locked while it is read, it would wait for itself.
func TestAWriteDoesNotWaitForReaders(t *testing.T) {
	s := store.New(store.Options{Indexers: byNamespace()})
	for i := range 1000 {
		must.Do(t, s.Add(pod(i, i)))
	}
	now, read := s.Snapshot(), 0
	for range now.All() {
		must.Do(t, s.Update(pod(read, 1000+read)))
		must.Do(t, s.Delete(pod(999-read, 0)))
		read++
	}
	expect.That(t, read == 1000 && len(now.List()) == 1000 && now.Len() == 1000 && now.Version() == "999",
		"read %d objects, then %d, of %d, as of %s", read, len(now.List()), now.Len(), now.Version())
	for _, obj := range now.List() {
		if version(t, obj) > 999 {
			t.Errorf("%s is in the snapshot, which is older", obj.(*corev1.Pod).ResourceVersion)
		}
	}
}

// A reader of one object waits for a change (or else this is a data race), and for no index function.
func TestGetWaitsForAChangeAndNotForAnIndexFunction(t *testing.T) {
	var s *store.Store
	get := func() <-chan struct{} {
		got := make(chan struct{})
		go func() { s.GetByKey("a"); close(got) }()
		return got
	}
	s = store.New(store.Options{Indexers: cache.Indexers{"slow": func(any) ([]string, error) {
		select {
		case <-get():
		case <-time.After(time.Minute):
			t.Fatal("Get waits until an index function has returned")
		}
		return nil, nil
	}}})
	var before any
	for v := range 100 {
		got, now := get(), pod(1, v)
		if old, err := s.Put("a", now); err != nil || old != before {
			t.Fatalf("Put number %d: error %v, or it does not return what was there before", v+1, err)
		}
		before = now
		<-got
	}
}

// Each write raises the version by one. So a state that existed is known by its
// version: each of ten pods in it is at the last version up to that one that was
// its own.
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
			expect.That(t, versions[v],
				"as of %d: version %d is missing in %v", asOf, v, slices.Sorted(maps.Keys(versions)))
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
		func() ([]any, int) { objs := s.List(); return objs, highest(objs) },
		func() ([]any, int) { objs, _ := s.ByIndex("all", "pods"); return objs, highest(objs) },
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

// contents are all that can be asked of a store about what it holds.
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
		err := write()
		expect.That(t, err != nil, "%s: no error", name)
		if after := contents(s); !maps.Equal(before, after) {
			t.Errorf("%s has changed the store:\nbefore: %v\nafter:  %v", name, before, after)
		}
	}
	if err := s.Update(bad(1, "fails")); !strings.Contains(err.Error(), `key "ns-1/pod-1" on index "picky"`) {
		t.Errorf("the error of an update: %v", err)
	}
	must.Do(t, s.Add(pod(5, 5))) // it goes on
}

// What is deleted is garbage, as is what was replaced.
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
	expect.That(t, left == 1 && len(s.List()) == 1,
		"%d pods are in memory, %d in the store, want 1 and 1", left, len(s.List()))
}

// A write after a snapshot copies what it changes. That is garbage as soon as the
// snapshot is: it must be little, in a large store, too.
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
		if t.Logf("%s: %d bytes", test.name, copied); copied > test.limit {
			t.Errorf("%s: %d bytes for each write, want %d at most", test.name, copied, test.limit)
		}
	}
}
