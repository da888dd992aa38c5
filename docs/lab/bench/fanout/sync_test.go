// How long it takes until handlers know a list: the first, that of a handler that
// comes late, and a second one.

package fanout

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
					changes.start(ctx, b, s, objects) // it has room for no more
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

// BenchmarkRelist ends the watch, so that the informer has to list again, and
// every pod has changed meanwhile. It measures from the moment when the informer
// gets the list, which is after the pause that both make before they ask for it,
// until the handler has got all updates.
func BenchmarkRelist(b *testing.B) {
	each(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		before, after := makeVersion(objects, 0), makeVersion(objects, 1)
		for b.Loop() {
			b.StopTimer()
			handlers := newTallies(1, objects)
			first, second := newSource(before), newSource(after)
			lists := first.oneByOne()
			w := newWatcher(b, informer, first, handlers)
			stop := w.run(b)
			first.expire()
			runtime.GC() // nothing of this is to be collected while the clock runs
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

// oneByOne makes the source give out itself for the first list only. Whoever
// asks for another waits for a source from the channel.
func (s *source) oneByOne() chan<- *source {
	lists, asked := make(chan *source), false
	s.WatchFuncWithContext = func(ctx context.Context, _ metav1.ListOptions) (watch.Interface, error) {
		if !asked {
			asked = true
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
