// Changes that are made at their time, whether or not the informer is ready.

package fanout

import (
	"context"
	"slices"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
)

// A schedule is updates at a fixed rate, each a pod of its own, and the handler
// that writes down when each of them came.
//
// The sender waits for nobody, as in a cluster. What the informer has not come
// to yet waits in the source, as it would in the connection and in the server.
// The source has room for as many changes as there were pods in the first list,
// and no schedule is that long: nothing is dropped, and the sender never blocks.
type schedule struct {
	objects   int
	every     time.Duration
	clock     *clock
	begin     time.Time
	sent      int
	got       []time.Duration // since the begin, by change: when the handler was called
	strange   int             // calls that are not for the next change
	delivered chan struct{}   // holds one for each call
}

func newSchedule(tb testing.TB, objects, perSecond int) *schedule {
	tb.Helper()
	return &schedule{
		objects:   objects,
		every:     time.Second / time.Duration(perSecond),
		clock:     newClock(tb),
		got:       make([]time.Duration, 0, objects),
		delivered: make(chan struct{}, objects),
	}
}

// send makes so many changes, or fewer if ctx ends before.
func (s *schedule) send(ctx context.Context, src *source, changes int) error {
	defer s.clock.stop()
	if err := s.clock.start(s.begin, s.every); err != nil {
		return err
	}
	for s.sent < changes && ctx.Err() == nil {
		if err := s.clock.wait(); err != nil {
			return err
		}
		src.update(newPod(s.sent%s.objects, s.version(s.sent)))
		s.sent++
	}
	return nil
}

func (s *schedule) due(k int) time.Duration { return time.Duration(k) * s.every }

func (s *schedule) version(k int) int { return s.objects + k + 1 }

// await returns when the handler was called as often as changes were sent.
func (s *schedule) await(tb testing.TB) {
	tb.Helper()
	timeout := time.After(deadline)
	for range s.sent {
		await(tb, s.delivered, timeout, "the handler got every change")
	}
}

// check fails unless the handler got each change once, in order. It is for
// after the informer's end, when no handler can be running.
func (s *schedule) check(tb testing.TB) {
	tb.Helper()
	if s.sent == 0 || len(s.got) != s.sent || s.strange > 0 {
		tb.Fatalf("%d changes were sent, the handler got %d, and %d of them in the place of others",
			s.sent, len(s.got), s.strange)
	}
}

// within is how many changes the handler got in so much time.
func (s *schedule) within(window time.Duration) (changes int) {
	for _, got := range s.got {
		if got <= window {
			changes++
		}
	}
	return changes
}

// lags are the times from the moment when a change was due until the handler was
// called, shortest first. They include what this process was too busy to send in
// time.
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
		s.strange++
	}
	s.delivered <- struct{}{}
}

func (s *schedule) OnAdd(any, bool) {}
func (s *schedule) OnDelete(any)    {}
