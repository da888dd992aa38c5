package realfifo_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/realfifo"
	"example.com/informer/scripts/harness/must"
)

// An observer gets each delta when it is queued, and when it is popped.
func TestAnObserverOfTheQueue(t *testing.T) {
	q := realfifo.New()
	var got []any
	q.SetObserver(func(event any) { got = append(got, event) })
	must.NoError(t, q.Add("a"))
	must.NoError(t, q.Replace([]any{"b"}, "1"))
	must.NoError(t, q.Pop(func(cache.Deltas, bool) error { return nil }))
	added := cache.Delta{Type: cache.Added, Object: "a"}
	list := cache.Delta{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "1", Objects: []any{"b"}}}
	want := []any{realfifo.Queued{Delta: added}, realfifo.Queued{Delta: list}, realfifo.Popped{Delta: added}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("events differ (-want +got):\n%s", diff)
	}
}
