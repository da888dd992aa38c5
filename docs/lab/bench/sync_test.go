// Benchmarks of lists: how long it takes until the handlers have got the first list, the list for a
// late handler, and a relist.

package main

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// BenchmarkSync measures from the informer's start until the registrations of all ten handlers have
// synced, and all handlers have got the whole list. The second condition should follow from the
// first, but in client-go v0.37 it does not always. Finished of its synctrack.SingleFileTracker
// counts down, and then asks whether the list is complete. If the handler's goroutine is
// interrupted between the two, the registration syncs too early. On a busy machine this happens in
// about one of 400 lists. It must not make client-go look faster.
func BenchmarkSync(b *testing.B) {
	for _, objects := range []int{1000, 10_000, 100_000} {
		eachInformer(b, fmt.Sprintf("handlers=10/objects=%d", objects), func(b *testing.B, informer newInformer) {
			objects := scaled(objects)
			all := makePods(objects)
			loop(b, func() (measured, check func()) {
				var stop func()
				handlers := newTallies(10, objects)
				w := newWatcher(b, informer, newSource(all[0]), handlers)
				measured = func() {
					stop = w.run(b)
					awaitListed(b, handlers)
				}
				check = func() { stop() }
				return measured, check
			})
		})
	}
}

// A tally is a handler that counts.
type tally struct {
	adds, updates, deletes int
	objects                int           // the number of adds, and of updates, to wait for
	listed, updated        chan struct{} // closed at the last add, and at the last update
	_                      [80]byte      // so that two tallies do not share a cache line
}

func newTallies(handlers, objects int) []*tally {
	all := make([]*tally, handlers)
	for i := range all {
		all[i] = &tally{objects: objects, listed: make(chan struct{}), updated: make(chan struct{})}
	}
	return all
}

func (t *tally) OnAdd(any, bool) {
	t.adds++
	if t.adds == t.objects {
		close(t.listed)
	}
}

func (t *tally) OnUpdate(_, _ any) {
	t.updates++
	if t.updates == t.objects {
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

// BenchmarkJoin measures from the first of 20 calls of AddEventHandler until all 20 registrations
// have synced, and all handlers have got all pods. (BenchmarkSync says why it waits for both.) No
// pod changes meanwhile.
func BenchmarkJoin(b *testing.B) {
	eachInformer(b, "handlers=20/objects=100000", func(b *testing.B, informer newInformer) {
		objects := largeStore()
		all := makeVersion(objects, 0)
		loop(b, func() (measured, check func()) {
			w := newWatcher(b, informer, newSource(all), []*tally{})
			stop, late := w.run(b), newTallies(20, objects)
			measured = func() { w.join(b, late) }
			check = func() {
				stop()
				checkAdds(b, late)
			}
			return measured, check
		})
	})
}

// BenchmarkJoinLag has one handler from the start. Then 20 others join, and until they have synced,
// there are 1,000 changes per second. It reports the longest time from the moment when a change was
// due until the first handler was called.
func BenchmarkJoinLag(b *testing.B) {
	eachInformer(b, "handlers=20/objects=100000", func(b *testing.B, informer newInformer) {
		objects := largeStore()
		all := makeVersion(objects, 0)
		var worst time.Duration
		loop(b, func() (measured, check func()) {
			changes, s := newSchedule(b, objects, 1000), newSource(all)
			w := newWatcher(b, informer, s, []*schedule{changes})
			stop, late := w.run(b), newTallies(20, objects)
			ctx, joined := context.WithCancel(b.Context())
			measured = func() {
				changes.start(ctx, b, s, objects) // the source has room for no more
				w.join(b, late)
			}
			check = func() {
				joined()
				changes.finish(b, stop)
				checkAdds(b, late)
				worst = max(worst, slices.Max(changes.lags()))
			}
			return measured, check
		})
		b.ReportMetric(float64(worst), "worst-lag-ns")
	})
}

// join adds handlers to an informer that runs, and waits until they have synced and have got all
// pods.
func (w *watcher) join(tb testing.TB, handlers []*tally) {
	tb.Helper()
	addHandlers(tb, w, handlers)
	w.awaitHandlers(tb)
	awaitListed(tb, handlers)
}

// checkAdds fails if a handler has not got each pod once. Call it when the informer has stopped, so
// that no handler runs.
func checkAdds(tb testing.TB, handlers []*tally) {
	tb.Helper()
	for i, h := range handlers {
		if h.adds != h.objects {
			tb.Errorf("handler %d got %d pods, want %d", i, h.adds, h.objects)
		}
	}
}

// BenchmarkRelist ends the watch, so that the informer has to list again. Every pod has changed
// meanwhile. It measures from the moment when the informer gets the list until the handler has received
// all updates. Both informers make a pause before they request the list, and this pause is not
// measured.
func BenchmarkRelist(b *testing.B) {
	eachInformer(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := largeStore()
		before, after := makeVersion(objects, 0), makeVersion(objects, 1)
		for b.Loop() {
			b.StopTimer()
			handlers := newTallies(1, objects)
			first, second := newSource(before), newSource(after)
			lists := first.waitForNextList()
			w := newWatcher(b, informer, first, handlers)
			stop := w.run(b)
			first.expire()
			runtime.GC() // so that the garbage so far is not collected while the clock runs
			timeout := time.After(deadline)
			select {
			case lists <- second: // the informer has it now
			case <-timeout:
				b.Fatalf("waited %v, and the informer has not asked for a second list", deadline)
			}
			b.StartTimer()
			await(b, handlers[0].updated, timeout, "the handler got all updates")
			b.StopTimer()
			stop()
			if h := handlers[0]; h.adds != objects || h.updates != objects || h.deletes > 0 {
				b.Errorf("the handler got %d adds, %d updates and %d deletes, want %d, %d and 0",
					h.adds, h.updates, h.deletes, objects, objects)
			}
			if last := after[objects-1]; w.version(b, last) != last.ResourceVersion {
				b.Errorf("the store has not got the second list: %s is at version %s", last.Name, w.version(b, last))
			}
			b.StartTimer()
		}
	})
}

// waitForNextList makes the source return itself for the first request only. Each later request
// waits for a source from the channel.
func (s *source) waitForNextList() chan<- *source {
	lists, isFirst := make(chan *source), true
	s.WatchFuncWithContext = func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
		if isFirst {
			isFirst = false
			return s, nil
		}
		select {
		case list := <-lists:
			return list, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return lists
}
