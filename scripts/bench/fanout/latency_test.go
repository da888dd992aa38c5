// How long an event takes from the watch to a handler when nothing else is on.

package fanout

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkLatency sends one event at a time, and the next when every handler
// has been told. It reports the median and the 99th percentile of the time from
// just before an event is sent until a handler is entered, over all handlers.
func BenchmarkLatency(b *testing.B) {
	each(b, "handlers=10/objects=1000", func(b *testing.B, informer newInformer) {
		all := makePods(1000)
		e := newEcho(10, b.N)
		s := newSource(all[0])
		stop := newWatcher(b, informer, s, e.clocks).run(b)
		b.ResetTimer()
		late := time.After(deadline)
		for k := range b.N {
			e.left.Store(int32(len(e.clocks)))
			pod := all.update(k)
			e.sent = time.Now()
			s.update(pod)
			await(b, e.idle, late, "every handler was told")
		}
		b.StopTimer()
		stop()
		took := e.times()
		if want := b.N * len(e.clocks); len(took) != want {
			b.Fatalf("handlers were told %d times, want %d", len(took), want)
		}
		b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
		b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
	})
}

// An echo is one event on its way, and the clocks that wait for it.
type echo struct {
	clocks []*clock
	sent   time.Time
	left   atomic.Int32 // handlers that have not been told
	idle   chan struct{}
}

func newEcho(handlers, events int) *echo {
	e := &echo{idle: make(chan struct{}, 1)}
	for range handlers {
		e.clocks = append(e.clocks, &clock{echo: e, took: make([]time.Duration, 0, events)})
	}
	return e
}

// times returns what all clocks have measured, shortest first.
func (e *echo) times() []time.Duration {
	var all []time.Duration
	for _, c := range e.clocks {
		all = append(all, c.took...)
	}
	slices.Sort(all)
	return all
}

// A clock is the handler: it writes down how long ago the event was sent.
type clock struct {
	echo *echo
	took []time.Duration
}

func (c *clock) OnUpdate(_, _ any) {
	c.took = append(c.took, time.Since(c.echo.sent))
	if c.echo.left.Add(-1) == 0 {
		c.echo.idle <- struct{}{}
	}
}

func (c *clock) OnAdd(any, bool) {}
func (c *clock) OnDelete(any)    {}
