// Changes that are made at their time, whether or not the informer is ready, and the
// process that says when one is due.

package fanout

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
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
	sending   sync.WaitGroup
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

// start begins to make so many changes, or fewer if ctx ends before, but at least one: on a busy machine
// the clock may be late.
func (s *schedule) start(ctx context.Context, tb testing.TB, src *source, changes int) {
	s.begin = time.Now()
	s.sending.Go(func() {
		defer s.clock.stop()
		if err := s.clock.start(s.begin, s.every); err != nil {
			tb.Error(err)
			return
		}
		for ; s.sent == 0 || s.sent < changes && ctx.Err() == nil; s.sent++ {
			if err := s.clock.wait(); err != nil {
				tb.Error(err)
				return
			}
			src.send(watch.Modified, newPod(s.sent%s.objects, s.version(s.sent)))
		}
	})
}

func (s *schedule) due(k int) time.Duration { return time.Duration(k) * s.every }

func (s *schedule) version(k int) int { return s.objects + k + 1 }

// finish waits until the handler was called as often as changes were sent, stops
// the informer, and fails unless the handler got each change once, in order.
func (s *schedule) finish(tb testing.TB, stop func()) {
	tb.Helper()
	s.sending.Wait()
	timeout := time.After(deadline)
	for range s.sent {
		await(tb, s.delivered, timeout, "the handler got every change")
	}
	stop()
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

// environment makes this program a clock, if it is set.
const environment = "INFORMER_BENCH_CLOCK"

// A clock is a process of its own that ticks, as a server sends. The informer
// cannot hold it up: a tick waits in a pipe, as a change would in a connection. (A
// timer of this process would be late while garbage is collected, which a
// connection is not: golang/go#45632.)
type clock struct {
	cmd *exec.Cmd
	in  io.Writer
	out io.Reader
	one [1]byte
}

// newClock returns a clock that does not tick yet.
func newClock(tb testing.TB) *clock {
	tb.Helper()
	c := &clock{cmd: exec.Command(os.Args[0])}
	c.cmd.Env = append(os.Environ(), environment+"=1")
	c.cmd.Stderr = os.Stderr
	in, inErr := c.cmd.StdinPipe()
	out, outErr := c.cmd.StdoutPipe()
	c.in, c.out = in, out
	for _, err := range []error{inErr, outErr, c.cmd.Start(), c.wait()} { // for the tick that says that it runs
		if err != nil {
			tb.Fatalf("starting a clock: %v", err)
		}
	}
	return c
}

// start lets it tick from then on.
func (c *clock) start(begin time.Time, every time.Duration) error {
	_, err := fmt.Fprintln(c.in, begin.UnixNano(), int64(every))
	return err
}

// wait waits for the next tick.
func (c *clock) wait() error {
	_, err := io.ReadFull(c.out, c.one[:])
	return err
}

func (c *clock) stop() {
	_ = c.cmd.Process.Kill()
	_ = c.cmd.Wait()
}

// serveClock is the whole of a process that is a clock. In any other process it
// returns at once.
func serveClock() {
	if os.Getenv(environment) == "" {
		return
	}
	var begin, every int64
	fmt.Print(".")
	if _, err := fmt.Scan(&begin, &every); err != nil {
		os.Exit(0) // nobody needs it any more
	}
	for due := time.Unix(0, begin); ; due = due.Add(time.Duration(every)) {
		for left := time.Until(due); left > 0; left = time.Until(due) {
			timeout := unix.NsecToTimeval(int64(left)) // time.Sleep may take a millisecond longer
			_, _ = unix.Select(0, nil, nil, nil, &timeout)
		}
		fmt.Print(".") // ends the process when nobody reads it any more
	}
}
