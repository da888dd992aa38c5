// How long it takes from the start until every handler knows the first list.

package fanout

import (
	"fmt"
	"testing"
	"time"
)

// BenchmarkSync measures from the informer's start until the registrations of
// all ten handlers have synced, and all handlers have got the whole list.
// The second should follow from the first. In client-go v0.37 it does not
// always: Finished of its synctrack.SingleFileTracker counts down, then asks
// whether the list is complete. A handler that is held up between the two has
// synced with some of the list still before it, once in about 400 lists on a busy
// machine. That is not to count as being faster.
func BenchmarkSync(b *testing.B) {
	for _, objects := range []int{1000, 10_000, 100_000} {
		each(b, fmt.Sprintf("handlers=10/objects=%d", objects), func(b *testing.B, informer newInformer) {
			all := makePods(objects)
			loop(b, func() (measured, check func()) {
				var stop func()
				handlers := newTallies(10, objects)
				w := newWatcher(b, informer, newSource(all[0]), handlers)
				return func() {
					stop = w.run(b)
					awaitListed(b, handlers)
				}, func() { stop() }
			})
		})
	}
}

// A tally is a handler that counts.
type tally struct {
	adds, updates, deletes int
	objects                int
	listed, updated        chan struct{} // closed at the last add, and at the last update
	_                      [80]byte      // keeps the counters of two handlers off one cache line
}

func newTallies(handlers, objects int) []*tally {
	all := make([]*tally, handlers)
	for i := range all {
		all[i] = &tally{objects: objects, listed: make(chan struct{}), updated: make(chan struct{})}
	}
	return all
}

func (t *tally) OnAdd(any, bool) {
	if t.adds++; t.adds == t.objects {
		close(t.listed)
	}
}

func (t *tally) OnUpdate(_, _ any) {
	if t.updates++; t.updates == t.objects {
		close(t.updated)
	}
}

func (t *tally) OnDelete(any) { t.deletes++ }

func awaitListed(tb testing.TB, handlers []*tally) {
	tb.Helper()
	timeout := time.After(deadline)
	for _, h := range handlers {
		await(tb, h.listed, timeout, "every handler got the whole list")
	}
}
