// How many events per second an informer brings to its handlers.

package fanout

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"
)

// BenchmarkEvents measures updates, from the watch until every handler has been
// told; ns/op is the time for one event, with all of its handlers.
func BenchmarkEvents(b *testing.B) {
	for _, handlers := range []int{1, 10, 100, 1000} {
		benchmarkEvents(b, handlers, 1000)
	}
	for _, objects := range []int{10_000, 100_000} {
		benchmarkEvents(b, 10, objects)
	}
}

func benchmarkEvents(b *testing.B, handlers, objects int) {
	each(b, fmt.Sprintf("handlers=%d/objects=%d", handlers, objects), func(b *testing.B, informer newInformer) {
		b.ReportAllocs()
		all := makePods(objects)
		r := newRace(handlers, b.N)
		s := newSource(all[0])
		stop := newWatcher(b, informer, s, r.counters).run(b)
		b.ResetTimer()
		r.run(b, func(k int) { s.update(all.update(k)) })
		b.StopTimer()
		stop()
		r.check(b)
	})
}

// A race is a number of events, sent lap by lap. A lap is over when every
// handler has been told of all of its events; only maxLaps are open at a time.
//
// This is what makes the numbers comparable. Without a limit the sender runs
// far ahead. client-go's buffers would grow beyond the 1,024 events that they
// begin with, from where it also traces every call; and our informer, with a
// handler far enough behind, would fold events, that is deliver fewer of them.
// Within the limit both are at their best, and both tell every handler of every
// event, one call each; check makes sure of it.
type race struct {
	events   int
	counters []*counter
	left     []atomic.Int32 // by lap: how many handlers are not through it
	open     chan struct{}  // holds one for each open lap
}

const (
	lap     = 256
	maxLaps = 4
)

func newRace(handlers, events int) *race {
	r := &race{events: events, left: make([]atomic.Int32, (events+lap-1)/lap), open: make(chan struct{}, maxLaps)}
	for i := range r.left {
		r.left[i].Store(int32(handlers))
	}
	for range handlers {
		r.counters = append(r.counters, &counter{race: r})
	}
	return r
}

// run sends the events and returns when the last lap is over.
func (r *race) run(tb testing.TB, send func(k int)) {
	late := time.After(deadline)
	enter := func() {
		select {
		case r.open <- struct{}{}:
		case <-late:
			tb.Fatalf("waited %v, and some of the events have still not reached all handlers", deadline)
		}
	}
	for k := range r.events {
		if k%lap == 0 {
			enter()
		}
		send(k)
	}
	for range maxLaps {
		enter()
	}
}

// check fails if a handler was told of more or less than all events. It is for
// after the informer's end, when no handler can be running.
func (r *race) check(tb testing.TB) {
	for i, c := range r.counters {
		if c.seen != r.events {
			tb.Errorf("handler %d was told of %d events, want %d", i, c.seen, r.events)
		}
	}
}

// A counter is the handler: it counts updates, which costs next to nothing. An
// informer makes one call at a time to a handler, so it takes no lock.
type counter struct {
	race *race
	seen int
	_    [112]byte // keeps the counters of two handlers off one cache line
}

func (c *counter) OnUpdate(_, _ any) {
	if c.seen++; c.seen%lap != 0 && c.seen != c.race.events {
		return
	}
	if c.race.left[(c.seen-1)/lap].Add(-1) == 0 {
		<-c.race.open
	}
}

func (c *counter) OnAdd(any, bool) {}
func (c *counter) OnDelete(any)    {}
