package store_test

import (
	"errors"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// A reader writes to the store in the middle of a loop over a snapshot. If the store were locked
// while a reader reads, the reader would wait for itself.
func TestAWriteDoesNotWaitForReaders(t *testing.T) {
	s := store.New(store.Options{Indexers: indexertest.ByNamespace()})
	for i := range 1000 {
		must.NoError(t, s.Add(indexertest.Pod(i, i)))
	}
	snapshot := s.Snapshot()
	read := 0
	for range snapshot.All() {
		must.NoError(t, s.Update(indexertest.Pod(read, 1000+read)))
		must.NoError(t, s.Delete(indexertest.Pod(999-read, 0)))
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
		if got := indexertest.Version(t, obj); got > 999 {
			t.Errorf("an object in the snapshot has version %d, want at most 999", got)
		}
	}
}

// A reader of one object waits while a write changes the state; otherwise there would be a data
// race. It does not wait for an index function.
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
		obj := indexertest.Pod(1, v)
		old, err := s.Put("a", obj)
		if err != nil || old != before {
			t.Fatalf("Put number %d = %v, %v; want %v, nil", v+1, old, err, before)
		}
		before = obj
		<-got
	}
}

// The version of the store is a part of its state. A reader of the version that does not wait for
// the end of a write has a data race with it, which the race detector finds: this reader reads what
// the last write has written, and nothing else has happened between the two.
func TestTheVersionChangesUnderBothLocks(t *testing.T) {
	const last = 100
	s := store.New(store.Options{})
	var writing sync.WaitGroup
	writing.Go(func() {
		for v := range last + 1 {
			if _, err := s.Put("a", indexertest.Pod(1, v)); err != nil {
				t.Error(err)
			}
		}
	})
	for deadline := time.Now().Add(time.Minute); s.LastStoreSyncResourceVersion() != strconv.Itoa(last); {
		if time.Now().After(deadline) {
			t.Fatalf("LastStoreSyncResourceVersion() = %q after a minute, want %d",
				s.LastStoreSyncResourceVersion(), last)
		}
		runtime.Gosched()
	}
	writing.Wait()
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
		p := indexertest.Pod(i, 7)
		p.Labels = map[string]string{"index": how}
		return p
	}
	s := store.New(store.Options{Indexers: cache.Indexers{"first": cache.MetaNamespaceIndexFunc, "picky": fails}})
	must.NoError(t, s.Add(indexertest.Pod(0, 1)))
	must.NoError(t, s.Add(indexertest.Pod(1, 2)))
	before := indexertest.Contents(s)
	for name, write := range map[string]func() error{
		"add":     func() error { return s.Add(bad(2, "fails")) },
		"panic":   func() error { return s.Add(bad(2, "panics")) },
		"update":  func() error { return s.Update(bad(0, "panics")) },
		"replace": func() error { return s.Replace([]any{indexertest.Pod(3, 3), bad(4, "fails")}, "9") },
		"no key":  func() error { return s.Replace([]any{indexertest.Pod(3, 3), "no object"}, "9") },
		"index": func() error {
			return s.AddIndexers(cache.Indexers{"late": func(any) ([]string, error) { panic("late") }})
		},
		"same index": func() error { return s.AddIndexers(cache.Indexers{"late": fails, "picky": fails}) },
	} {
		if err := write(); err == nil {
			t.Errorf("%s: no error, want one", name)
		}
		if diff := cmp.Diff(before, indexertest.Contents(s)); diff != "" {
			t.Errorf("%s has changed the store (-before +after):\n%s", name, diff)
		}
	}
	err := s.Update(bad(1, "fails"))
	if want := `key "ns-1/pod-1" on index "picky"`; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Update() = %v, want an error with %q", err, want)
	}
	must.NoError(t, s.Add(indexertest.Pod(5, 5))) // the store still works
}

// A write after a snapshot copies the parts that it changes. This must be little, even in a large
// store.
func TestHowMuchAWriteCopiesAfterASnapshot(t *testing.T) {
	const objects, writes = 100_000, 500
	s := store.New(store.Options{Indexers: indexertest.ByNamespace()})
	for i := range objects {
		must.NoError(t, s.Add(indexertest.Pod(i, i)))
	}
	others := make([]any, writes)
	for i := range others {
		others[i] = indexertest.Pod(objects/2+i, objects+i)
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
			must.NoError(t, test.write(i))
		}
		copied := (usage.Allocated() - before) / writes
		t.Logf("%s: %d bytes for each write", test.name, copied)
		if copied > test.limit {
			t.Errorf("%s: %d bytes for each write, want at most %d", test.name, copied, test.limit)
		}
	}
}

// The first write after a snapshot makes copies that no snapshot shares. The next writes to the
// same page change them in place.
func TestOnlyTheFirstWriteAfterASnapshotCopies(t *testing.T) {
	const objects, writes, limit = 100_000, 500, 100
	s := store.New(store.Options{Indexers: indexertest.ByNamespace()})
	for i := range objects {
		must.NoError(t, s.Add(indexertest.Pod(i, i)))
	}
	pod := indexertest.Pod(0, objects)
	for range 2 * writes { // there may be many of them since the last write
		s.Snapshot()
	}
	must.NoError(t, s.Update(pod))
	before := usage.Allocated()
	for range writes {
		must.NoError(t, s.Update(pod))
	}
	copied := (usage.Allocated() - before) / writes
	t.Logf("%d bytes for each write", copied)
	if copied > limit {
		t.Errorf("%d bytes for each write, want at most %d", copied, limit)
	}
}
