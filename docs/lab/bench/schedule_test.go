// Changes at a fixed rate, whether or not the informer is ready for them.

package main

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// A schedule sends updates at a fixed rate, each of another pod. It is also the handler that notes
// when each update came.
//
// The sender does not wait for the informer, as in a cluster. An update that the informer has not
// read yet waits in the source. In a cluster, it waits in the connection and in the server. The
// source has room for as many updates as there were pods in the first list, and no schedule is that
// long. So no update is dropped, and the sender never blocks.
type schedule struct {
	objects    int
	interval   time.Duration
	clock      *clock
	begin      time.Time
	sending    sync.WaitGroup
	sent       int
	got        []time.Duration // by update: the time from begin until the handler was called
	outOfOrder int             // the number of calls that were not for the next update
	delivered  chan struct{}   // gets an element for each call
}

func newSchedule(tb testing.TB, objects, perSecond int) *schedule {
	tb.Helper()
	return &schedule{
		objects:   objects,
		interval:  time.Second / time.Duration(perSecond),
		clock:     newClock(tb),
		got:       make([]time.Duration, 0, objects),
		delivered: make(chan struct{}, objects),
	}
}

// start begins to make this number of changes. If ctx ends before, it makes fewer, but at least
// one: on a busy machine the clock may be late.
func (s *schedule) start(ctx context.Context, tb testing.TB, src *source, changes int) {
	s.begin = time.Now()
	s.sending.Go(func() {
		defer s.clock.stop()
		if err := s.clock.start(s.begin, s.interval); err != nil {
			tb.Error(err)
			return
		}
		isDone := func() bool { return s.sent > 0 && (s.sent >= changes || ctx.Err() != nil) }
		for ; !isDone(); s.sent++ {
			if err := s.clock.wait(); err != nil {
				tb.Error(err)
				return
			}
			src.send(watch.Modified, newPod(s.sent%s.objects, s.version(s.sent)))
		}
	})
}

// due returns when update k is due, after begin.
func (s *schedule) due(k int) time.Duration { return time.Duration(k) * s.interval }

// version returns the resourceVersion of update k.
func (s *schedule) version(k int) int { return s.objects + k + 1 }

// finish waits until the handler was called for each change that was sent, and stops the informer.
// It fails unless the handler got each change once, in order.
func (s *schedule) finish(tb testing.TB, stop func()) {
	tb.Helper()
	s.sending.Wait()
	timeout := time.After(deadline)
	for range s.sent {
		await(tb, s.delivered, timeout, "the handler got every change")
	}
	stop()
	if s.sent == 0 {
		tb.Fatal("no changes were sent")
	}
	if len(s.got) != s.sent || s.outOfOrder > 0 {
		tb.Fatalf("the handler got %d changes, %d of them out of order; want %d, and none out of order",
			len(s.got), s.outOfOrder, s.sent)
	}
}

// within returns how many changes the handler got in the first part of the time.
func (s *schedule) within(window time.Duration) (changes int) {
	for _, got := range s.got {
		if got <= window {
			changes++
		}
	}
	return changes
}

// lags returns the times from the moment when a change was due until the handler was called,
// shortest first. A lag includes the time by which the sender was late, because this process was
// busy.
func (s *schedule) lags() []time.Duration {
	lags := make([]time.Duration, len(s.got))
	for k, got := range s.got {
		lags[k] = got - s.due(k)
	}
	slices.Sort(lags)
	return lags
}

func (s *schedule) OnUpdate(_, obj any) {
	k := len(s.got)
	s.got = append(s.got, time.Since(s.begin))
	if obj.(*corev1.Pod).ResourceVersion != strconv.Itoa(s.version(k)) {
		s.outOfOrder++
	}
	s.delivered <- struct{}{}
}

func (s *schedule) OnAdd(any, bool) {}
func (s *schedule) OnDelete(any)    {}
