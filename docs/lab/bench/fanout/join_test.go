// How long it takes until handlers that come late know what is stored.

package fanout

import (
	"context"
	"math"
	"slices"
	"testing"
	"time"
)

// BenchmarkJoin measures from the first of 20 calls of AddEventHandler until
// all 20 registrations have synced, and all handlers have got all pods: the
// second for the reason that BenchmarkSync gives. Nothing changes meanwhile.
func BenchmarkJoin(b *testing.B) {
	each(b, "handlers=20/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		all := makeVersion(objects, 0)
		loop(b, func() (measured, check func()) {
			w := newWatcher(b, informer, newSource(all), []*tally{})
			stop, late := w.run(b), newTallies(20, objects)
			return func() { w.join(b, late) }, func() { stop(); checkAdds(b, late) }
		})
	})
}

// BenchmarkJoinLag has one handler from the start, and 1,000 changes each second
// from the moment when 20 others begin to join until they have synced. It
// reports the longest time from the moment when a change was due until the first
// handler was called.
func BenchmarkJoinLag(b *testing.B) {
	each(b, "handlers=20/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		all := makeVersion(objects, 0)
		var worst time.Duration
		loop(b, func() (measured, check func()) {
			changes, s := newSchedule(b, objects, 1000), newSource(all)
			w := newWatcher(b, informer, s, []*schedule{changes})
			stop, late := w.run(b), newTallies(20, objects)
			ctx, joined := context.WithCancel(b.Context())
			return func() {
					changes.start(ctx, b, s, math.MaxInt)
					w.join(b, late)
				}, func() {
					joined()
					changes.finish(b, stop)
					checkAdds(b, late)
					worst = max(worst, slices.Max(changes.lags()))
				}
		})
		b.ReportMetric(float64(worst), "worst-lag-ns")
	})
}

// join gives handlers to an informer that runs, and waits until they know all.
func (w *watcher) join(tb testing.TB, handlers []*tally) {
	tb.Helper()
	addHandlers(tb, w, handlers)
	w.awaitHandlers(tb)
	awaitListed(tb, handlers)
}

// checkAdds fails if a handler got more or less than all pods. It is for after
// the informer's end, when no handler can be running.
func checkAdds(tb testing.TB, handlers []*tally) {
	tb.Helper()
	for i, h := range handlers {
		if h.adds != h.objects {
			tb.Errorf("handler %d got %d pods, want %d", i, h.adds, h.objects)
		}
	}
}
