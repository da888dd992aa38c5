// Benchmarks of events: how many per second an informer delivers to its handlers, how long a
// single event takes, and how long it takes until all objects are deleted.

package main

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

// BenchmarkEvents measures updates, from the watch until every handler was called. ns/op is the
// time for one event with all handlers.
func BenchmarkEvents(b *testing.B) {
	for _, size := range []struct{ handlers, objects int }{
		{1, 1000}, {10, 1000}, {100, 1000}, {1000, 1000}, {10, 10_000}, {10, 100_000},
	} {
		name := fmt.Sprintf("handlers=%d/objects=%d", size.handlers, size.objects)
		eachInformer(b, name, func(b *testing.B, newInformer newInformer) {
			events(b, size.handlers, scaled(size.objects), newInformer)
		})
	}
}

// BenchmarkObserved is BenchmarkEvents with an observer, which only our informer can have.
// BenchmarkEvents shows what our informer pays for this possibility if it has no observer.
func BenchmarkObserved(b *testing.B) {
	eachInformer(b, "handlers=1/objects=1000", func(b *testing.B, newInformer newInformer) {
		events(b, 1, 1000, func(
			lw cache.ListerWatcher, example runtime.Object, options cache.SharedIndexInformerOptions,
		) cache.SharedIndexInformer {
			made := newInformer(lw, example, options)
			if ours, ok := made.(*informer.Informer); ok {
				must.NoError(b, ours.SetObserver(&eventCounter{}))
			}
			return made
		})
	})
}

// An eventCounter is an observer that counts its calls.
type eventCounter struct{ seen atomic.Int64 }

func (c *eventCounter) Observe(any) { c.seen.Add(1) }

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

// A workload sends events in batches. A batch is done when every handler has received all of its events.
// At most maxBatches are open at the same time.
//
// This limit makes the numbers comparable. Without it, the sender runs far ahead of the handlers.
// Then client-go's buffers would grow beyond the 1,024 events that they begin with, from where
// client-go also traces every call. And our informer would fold the events of a handler that is far
// behind, so that it delivers fewer events. Within the limit both informers are at their best, and
// both call every handler for every event. The method check proves this.
type workload struct {
	events   int
	counters []*counter
	left     []atomic.Int32 // by batch: the number of handlers that have not got all of its events
	open     chan struct{}  // holds an element for each open batch
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

// run sends the events, and returns when the last batch is done.
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

// check fails if a handler has not got each event once. Call it when the informer has stopped, so
// that no handler runs.
func (w *workload) check(tb testing.TB) {
	for i, c := range w.counters {
		if c.seen != w.events {
			tb.Errorf("handler %d got %d events, want %d", i, c.seen, w.events)
		}
	}
}

// A counter is a handler that counts changes. That takes nearly no time. An informer makes one call
// of a handler at a time, so a counter has no lock.
type counter struct {
	workload *workload
	seen     int
	_        [112]byte // so that two counters do not share a cache line
}

func (c *counter) OnUpdate(_, _ any) { c.count() }
func (c *counter) OnDelete(any)      { c.count() }
func (c *counter) OnAdd(any, bool)   {}

func (c *counter) count() {
	c.seen++
	isLastOfBatch := c.seen%batchSize == 0 || c.seen == c.workload.events
	if !isLastOfBatch {
		return
	}
	if c.workload.left[(c.seen-1)/batchSize].Add(-1) == 0 {
		<-c.workload.open
	}
}

// BenchmarkLatency sends an event, and sends the next one when every handler was called. It reports
// the median and the 99th percentile of the time from just before an event is sent until a handler
// is called, over all handlers.
func BenchmarkLatency(b *testing.B) {
	eachInformer(b, "handlers=10/objects=1000", func(b *testing.B, informer newInformer) {
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

// A probe is an event on its way to the stopwatches.
type probe struct {
	stopwatches []*stopwatch
	sent        time.Time
	left        atomic.Int32  // the number of handlers that were not called yet
	idle        chan struct{} // gets an element when all handlers were called
}

func newProbe(handlers, events int) *probe {
	p := &probe{idle: make(chan struct{}, 1)}
	for range handlers {
		p.stopwatches = append(p.stopwatches, &stopwatch{probe: p, took: make([]time.Duration, 0, events)})
	}
	return p
}

// times returns the times of all stopwatches, shortest first.
func (p *probe) times() []time.Duration {
	var all []time.Duration
	for _, s := range p.stopwatches {
		all = append(all, s.took...)
	}
	slices.Sort(all)
	return all
}

// A stopwatch is a handler that notes how long ago the event was sent.
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

// BenchmarkDeletes deletes 100,000 pods one by one, over the watch. It measures from the first
// delete until the handler was called for the last one. The deletes come in the batches of a
// workload.
func BenchmarkDeletes(b *testing.B) {
	eachInformer(b, "handlers=1/objects=100000", func(b *testing.B, informer newInformer) {
		objects := largeStore()
		before, deleted := makeVersion(objects, 0), makeVersion(objects, 1)
		loop(b, func() (measured, check func()) {
			work, s := newWorkload(1, objects), newSource(before)
			w := newWatcher(b, informer, s, work.counters)
			stop := w.run(b)
			measured = func() {
				work.run(b, func(k int) { s.send(watch.Deleted, deleted[k]) })
			}
			check = func() {
				stop()
				work.check(b)
				if left := len(w.GetStore().ListKeys()); left > 0 {
					b.Errorf("the store has %d pods, want 0", left)
				}
			}
			return measured, check
		})
	})
}
