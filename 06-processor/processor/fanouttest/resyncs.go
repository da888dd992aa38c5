// How resyncs reach handlers.

package fanouttest

import (
	"slices"
	"testing"
	"time"

	"example.com/informer/06-processor/processor"
)

func resyncsAreForHandlersThatAreDue(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		never, each, third := newRecorder(), newRecorder(), newRecorder()
		add(t, p, never, processor.Options{})
		add(t, p, each, processor.Options{ResyncPeriod: time.Minute})
		add(t, p, third, processor.Options{ResyncPeriod: 3 * time.Minute})
		for minute := range 6 {
			time.Sleep(time.Minute)
			if !p.ShouldResync(time.Now()) {
				t.Errorf("ShouldResync() = false in minute %d, want true", minute+1)
			}
			p.Resync(Updated("a", minute, minute))
		}
		each.want(t, "update a 0 to 0", "update a 1 to 1", "update a 2 to 2", "update a 3 to 3", "update a 4 to 4",
			"update a 5 to 5")
		third.want(t, "update a 2 to 2", "update a 5 to 5")
		never.want(t)
		if p.ShouldResync(time.Now()) {
			t.Error("ShouldResync() = true right after a resync, want false")
		}
	})
}

func resyncsAreForNewcomersToo(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		before, after := newRecorder(), newRecorder()
		add(t, p, before, processor.Options{})
		p.ShouldResync(time.Now())
		add(t, p, after, processor.Options{})
		p.Resync(Updated("a", 1, 1))
		before.want(t)
		after.want(t, "update a 1 to 1")
	})
}

// A handler is busy while resyncs come that it is not due for. When it reads them, it is due: but
// not for these.
func aBusyHandlerSkipsTheResyncsOfOthers(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		busy, calls := blocked()
		add(t, p, busy, processor.Options{ResyncPeriod: 2 * time.Minute})
		add(t, p, newRecorder(), processor.Options{ResyncPeriod: time.Minute})
		p.Distribute(Added("a", 0))
		for minute := 1; minute <= 2; minute++ {
			time.Sleep(time.Minute)
			p.ShouldResync(time.Now())
			p.Resync(Updated("a", minute, minute))
		}
		if got, want := takeCalls(calls), []string{"add 0", "update 2"}; !slices.Equal(got, want) {
			t.Errorf("the busy handler got %q, want %q", got, want)
		}
	})
}
