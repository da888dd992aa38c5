package store_test

import (
	"testing"

	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

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
