// How long it takes until handlers that come late know what is stored.

package fanout

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
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
		for b.Loop() {
			b.StopTimer()
			w := newWatcher(b, informer, newSource(all), []*listener{})
			stop := w.run(b)
			listeners := newListeners(20, objects)
			runtime.GC() // nothing of the first list is to be collected while the clock runs
			b.StartTimer()
			w.join(b, listeners)
			b.StopTimer()
			stop()
			checkAll(b, listeners)
			b.StartTimer()
		}
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
		for b.Loop() {
			b.StopTimer()
			changes := newSchedule(b, objects, 1000)
			s := newSource(all)
			w := newWatcher(b, informer, s, []*schedule{changes})
			stop := w.run(b)
			listeners := newListeners(20, objects)
			ctx, joined := context.WithCancel(b.Context())
			var sending sync.WaitGroup
			var sendErr error
			runtime.GC()
			b.StartTimer()
			changes.begin = time.Now()
			sending.Go(func() { sendErr = changes.send(ctx, s, math.MaxInt) })
			w.join(b, listeners)
			b.StopTimer()
			joined()
			if sending.Wait(); sendErr != nil {
				b.Fatal(sendErr)
			}
			changes.await(b)
			stop()
			changes.check(b)
			checkAll(b, listeners)
			worst = max(worst, slices.Max(changes.lags()))
			b.StartTimer()
		}
		b.ReportMetric(float64(worst), "worst-lag-ns")
	})
}

// join gives handlers to an informer that runs, and waits until they know all.
func (w *watcher) join(tb testing.TB, listeners []*listener) {
	tb.Helper()
	addHandlers(tb, w, listeners)
	w.awaitHandlers(tb)
	awaitAll(tb, listeners)
}

// checkAll fails if a handler got more or less than all pods. It is for after
// the informer's end, when no handler can be running.
func checkAll(tb testing.TB, listeners []*listener) {
	tb.Helper()
	for i, l := range listeners {
		if l.seen != l.objects {
			tb.Errorf("handler %d got %d pods, want %d", i, l.seen, l.objects)
		}
	}
}
