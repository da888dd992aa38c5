// How long it takes from the start until every handler knows the first list.

package fanout

import (
	"fmt"
	"runtime"
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
			for b.Loop() {
				b.StopTimer()
				listeners := newListeners(10, objects)
				w := newWatcher(b, informer, newSource(all[0]), listeners)
				runtime.GC() // nothing of this is to be collected while the clock runs
				b.StartTimer()
				stop := w.run(b)
				awaitAll(b, listeners)
				b.StopTimer()
				stop()
				b.StartTimer()
			}
		})
	}
}

// A listener is the handler: it counts what the first list adds.
type listener struct {
	seen, objects int
	listed        chan struct{} // closed at the last object
	_             [104]byte     // keeps the counters of two handlers off one cache line
}

func newListeners(handlers, objects int) []*listener {
	var all []*listener
	for range handlers {
		all = append(all, &listener{objects: objects, listed: make(chan struct{})})
	}
	return all
}

func awaitAll(tb testing.TB, listeners []*listener) {
	tb.Helper()
	timeout := time.After(deadline)
	for _, l := range listeners {
		await(tb, l.listed, timeout, "every handler got the whole list")
	}
}

func (l *listener) OnAdd(any, bool) {
	if l.seen++; l.seen == l.objects {
		close(l.listed)
	}
}

func (l *listener) OnUpdate(_, _ any) {}
func (l *listener) OnDelete(any)      {}
