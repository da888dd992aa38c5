package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

// An observer gets each delta that is queued or dropped, what a list was compared with, and each pop.
func TestAnObserverOfADeltaFIFO(t *testing.T) {
	known := cache.NewStore(func(any) (string, error) { return "known", nil })
	must.NoError(t, known.Add("known"))
	q := deltafifo.New(deltafifo.Options{
		KeyFunction:  func(obj any) (string, error) { return obj.(string)[:5], nil },
		KnownObjects: known,
	})
	var got []any
	q.SetObserver(func(event any) { got = append(got, event) })
	want := func(events ...any) {
		t.Helper()
		if diff := cmp.Diff(events, got); diff != "" {
			t.Errorf("events differ (-want +got):\n%s", diff)
		}
		got = nil
	}
	delta := func(action cache.DeltaType, obj any) cache.Delta { return cache.Delta{Type: action, Object: obj} }

	must.NoError(t, q.Add("new_a"))
	must.NoError(t, q.Delete("known, final state"))
	must.NoError(t, q.Delete("other"))
	want(
		deltafifo.Queued{Key: "new_a", Delta: delta(cache.Added, "new_a")},
		deltafifo.Queued{Key: "known", Delta: delta(cache.Deleted, "known, final state")},
		deltafifo.Dropped{Key: "other", Object: "other"},
	)
	must.NoError(t, q.Replace([]any{"listed"}, "1"))
	tombstone := cache.DeletedFinalStateUnknown{Key: "new_a", Obj: "new_a"}
	want(
		deltafifo.Queued{Key: "liste", Delta: delta(cache.Sync, "listed")},
		deltafifo.Compared{Listed: 1, Missing: []string{"new_a", "known"}},
		deltafifo.Queued{Key: "new_a", Delta: delta(cache.Deleted, tombstone)},
		deltafifo.Dropped{
			Key: "known", Second: true,
			Object: cache.DeletedFinalStateUnknown{Key: "known", Obj: "known, final state"},
		},
	)
	must.NoError(t, q.Pop(func(cache.Deltas, bool) error {
		want(deltafifo.Popped{Key: "new_a", Deltas: cache.Deltas{
			delta(cache.Added, "new_a"),
			delta(cache.Deleted, tombstone),
		}})
		return nil
	}))
	q.SetObserver(nil)
	must.NoError(t, q.Add("new_b"))
	want()
}
