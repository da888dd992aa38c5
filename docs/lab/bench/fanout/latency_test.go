// How long an event takes from the watch to a handler when nothing else is on.

package fanout

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/watch"
)

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
