// Which deltas wait under a key, and what the state in a tombstone is.

package deltafifo_test

import (
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

func TestEachDeltaWaitsExceptForASecondDeleteInARow(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	must.NoError(t, q.Add(item{"a", 1}))
	must.NoError(t, q.Update(item{"a", 2}))
	must.NoError(t, q.Update(item{"a", 3}))
	must.NoError(t, q.Update(item{"a", 3})) // the same state once more
	must.NoError(t, q.Delete(item{"a", 4}))
	must.NoError(t, q.Delete(item{"a", 5})) // the second in a row
	must.NoError(t, q.Add(item{"a", 6}))
	must.NoError(t, q.Delete(item{"a", 7})) // the object was there again
	must.NoError(t, q.Replace([]any{item{"a", 8}}, ""))
	must.NoError(t, q.Replace([]any{item{"a", 9}}, ""))
	got := pop(t, q)
	want := cache.Deltas{
		{Type: cache.Added, Object: item{"a", 1}},
		{Type: cache.Updated, Object: item{"a", 2}},
		{Type: cache.Updated, Object: item{"a", 3}},
		{Type: cache.Updated, Object: item{"a", 3}},
		{Type: cache.Deleted, Object: item{"a", 4}},
		{Type: cache.Added, Object: item{"a", 6}},
		{Type: cache.Deleted, Object: item{"a", 7}},
		{Type: cache.Sync, Object: item{"a", 8}},
		{Type: cache.Sync, Object: item{"a", 9}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("popped %v, want %v", got, want)
	}
	wantEmpty(t, q)
}

// The update that waits is newer than the known object.
func TestTheTombstoneOfAKnownObjectThatWaitsHasTheNewerState(t *testing.T) {
	known := newSortedStore()
	must.NoError(t, known.Add(item{"a", 1}))
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: known})
	must.NoError(t, q.Update(item{"a", 2}))
	must.NoError(t, q.Replace(nil, ""))
	got := pop(t, q)
	want := cache.Deltas{
		{Type: cache.Updated, Object: item{"a", 2}},
		{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "a", Obj: item{"a", 2}}},
	}
	if !slices.Equal(got, want) {
		t.Errorf("popped %v, want %v", got, want)
	}
	wantEmpty(t, q)
}

// Whatever waits, it is newer than the known object.
func TestAResyncLeavesOutWhatWaits(t *testing.T) {
	known := newSortedStore()
	for _, name := range []string{"added", "deleted", "quiet", "updated"} {
		must.NoError(t, known.Add(item{name, 1}))
	}
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: known})
	must.NoError(t, q.Add(item{"added", 2}))
	must.NoError(t, q.Delete(item{"deleted", 2}))
	must.NoError(t, q.Update(item{"updated", 2}))
	for range 2 { // after the first resync, "quiet" waits, too
		must.NoError(t, q.Resync())
	}
	for _, want := range []cache.Delta{
		{Type: cache.Added, Object: item{"added", 2}},
		{Type: cache.Deleted, Object: item{"deleted", 2}},
		{Type: cache.Updated, Object: item{"updated", 2}},
		{Type: cache.Sync, Object: item{"quiet", 1}},
	} {
		if got := pop(t, q); !slices.Equal(got, cache.Deltas{want}) {
			t.Errorf("popped %v, want %v", got, cache.Deltas{want})
		}
	}
	wantEmpty(t, q)
}
