// How many events per second an informer brings to its handlers, how long one takes
// when nothing else is on, and how long it takes until everything is deleted.

package fanout

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// BenchmarkEvents measures updates, from the watch until every handler was
// called; ns/op is the time for one event, with all of its handlers.
func BenchmarkEvents(b *testing.B) {
	for _, size := range []struct{ handlers, objects int }{
		{1, 1000}, {10, 1000}, {100, 1000}, {1000, 1000}, {10, 10_000}, {10, 100_000},
	} {
		name := fmt.Sprintf("handlers=%d/objects=%d", size.handlers, size.objects)
		each(b, name, func(b *testing.B, newInformer newInformer) {
			events(b, size.handlers, size.objects, newInformer)
		})
	}
}

// BenchmarkObserved measures the same with an observer, which ours can have. What
// an informer without one pays for that is in BenchmarkEvents.
func BenchmarkObserved(b *testing.B) {
	each(b, "handlers=1/objects=1000", func(b *testing.B, newInformer newInformer) {
		events(b, 1, 1000, func(
			lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
		) cache.SharedIndexInformer {
			made := newInformer(lw, example, options)
			if ours, ok := made.(*informer.Informer); ok {
				must.Do(b, ours.SetObserver(&eventCounter{}))
			}
			return made
		})
	})
}

// An eventCounter is an observer that counts.
type eventCounter struct{ seen atomic.Int64 }

func (c *eventCounter) Observe(observer.Event) { c.seen.Add(1) }

func events(b *testing.B, handlers, objects int, newInformer newInformer) {
	all := makePods(objects)
	w := newWorkload(handlers, b.N)
	s := newSource(all[0])
	stop := newWatcher(b, newInformer, s, w.counters).run(b)
	b.ResetTimer()
	w.run(b, func(k int) { s.send(watch.Modified, all.update(k)) })
	b.StopTimer()
	stop()
	w.check(b)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// A workload is a number of events, sent batch by batch. A batch is over when
// every handler has got all of its events; only maxBatches are open at a time.
//
// This is what makes the numbers comparable. Without a limit the sender runs
// far ahead. client-go's buffers would grow beyond the 1,024 events that they
// begin with, from where it also traces every call; and our informer, with a
// handler far enough behind, would fold events, that is deliver fewer of them.
// Within the limit both are at their best, and both call every handler for every
// event; check makes sure of it.
type workload struct {
	events   int
	counters []*counter
	left     []atomic.Int32 // by batch: how many handlers are not through it
	open     chan struct{}  // holds one for each open batch
}

const (
	batchSize  = 256
	maxBatches = 4
)

func newWorkload(handlers, events int) *workload {
	w := &workload{
		events: events,
		left:   make([]atomic.Int32, (events+batchSize-1)/batchSize),
		open:   make(chan struct{}, maxBatches),
	}
	for i := range w.left {
		w.left[i].Store(int32(handlers))
	}
	for range handlers {
		w.counters = append(w.counters, &counter{workload: w})
	}
	return w
}

// run sends the events and returns when the last batch is over.
func (w *workload) run(tb testing.TB, send func(k int)) {
	timeout := time.After(deadline)
	enter := func() {
		select {
		case w.open <- struct{}{}:
		case <-timeout:
			tb.Fatalf("waited %v, and some of the events have still not reached all handlers", deadline)
		}
	}
	for k := range w.events {
		if k%batchSize == 0 {
			enter()
		}
		send(k)
	}
	for range maxBatches {
		enter()
	}
}

// check fails if a handler got more or less than all events. It is for
// after the informer's end, when no handler can be running.
func (w *workload) check(tb testing.TB) {
	for i, c := range w.counters {
		expect.That(tb, c.seen == w.events, "handler %d got %d events, want %d", i, c.seen, w.events)
	}
}

// A counter is the handler: it counts changes, which costs next to nothing. An
// informer makes one call at a time to a handler, so it takes no lock.
type counter struct {
	workload *workload
	seen     int
	_        [112]byte // keeps the counters of two handlers off one cache line
}

func (c *counter) OnUpdate(_, _ any) { c.count() }
func (c *counter) OnDelete(any)      { c.count() }
func (c *counter) OnAdd(any, bool)   {}

func (c *counter) count() {
	if c.seen++; c.seen%batchSize != 0 && c.seen != c.workload.events {
		return
	}
	if c.workload.left[(c.seen-1)/batchSize].Add(-1) == 0 {
		<-c.workload.open
	}
}

// BenchmarkLatency sends one event at a time, and the next when every handler
// was called. It reports the median and the 99th percentile of the time from
// just before an event is sent until a handler is entered, over all handlers.
func BenchmarkLatency(b *testing.B) {
	each(b, "handlers=10/objects=1000", func(b *testing.B, informer newInformer) {
		all := makePods(1000)
		p := newProbe(10, b.N)
		src := newSource(all[0])
		stop := newWatcher(b, informer, src, p.stopwatches).run(b)
		b.ResetTimer()
		timeout := time.After(deadline)
		for k := range b.N {
			p.left.Store(int32(len(p.stopwatches)))
			pod := all.update(k)
			p.sent = time.Now()
			src.send(watch.Modified, pod)
			await(b, p.idle, timeout, "every handler was called")
		}
		b.StopTimer()
		stop()
		took := p.times()
		if want := b.N * len(p.stopwatches); len(took) != want {
			b.Fatalf("handlers were called %d times, want %d", len(took), want)
		}
		b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
		b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
	})
}

// A probe is one event on its way, and the stopwatches that wait for it.
type probe struct {
	stopwatches []*stopwatch
	sent        time.Time
	left        atomic.Int32 // handlers that were not called yet
	idle        chan struct{}
}

func newProbe(handlers, events int) *probe {
	p := &probe{idle: make(chan struct{}, 1)}
	for range handlers {
		p.stopwatches = append(p.stopwatches, &stopwatch{probe: p, took: make([]time.Duration, 0, events)})
	}
	return p
}

// times returns what all stopwatches have measured, shortest first.
func (p *probe) times() []time.Duration {
	var all []time.Duration
	for _, s := range p.stopwatches {
		all = append(all, s.took...)
	}
	slices.Sort(all)
	return all
}

// A stopwatch is the handler: it writes down how long ago the event was sent.
type stopwatch struct {
	probe *probe
	took  []time.Duration
}

func (s *stopwatch) OnUpdate(_, _ any) {
	s.took = append(s.took, time.Since(s.probe.sent))
	if s.probe.left.Add(-1) == 0 {
		s.probe.idle <- struct{}{}
	}
}

func (s *stopwatch) OnAdd(any, bool) {}
func (s *stopwatch) OnDelete(any)    {}

// BenchmarkDeletes deletes 100,000 pods one by one, over the watch, from the
// first until the handler was called for the last. They come in the batches of
// a workload, for the reason that is given there.
func BenchmarkDeletes(b *testing.B) {
	each(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := many()
		before, deleted := makeVersion(objects, 0), makeVersion(objects, 1)
		loop(b, func() (measured, check func()) {
			work, s := newWorkload(1, objects), newSource(before)
			w := newWatcher(b, informer, s, work.counters)
			stop := w.run(b)
			return func() {
					work.run(b, func(k int) { s.send(watch.Deleted, deleted[k]) })
				}, func() {
					stop()
					work.check(b)
					left := len(w.GetStore().ListKeys())
					expect.That(b, left <= 0, "%d pods are left in the store", left)
				}
		})
	})
}
