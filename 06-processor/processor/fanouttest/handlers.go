// The tests of a processor and its handlers.

package fanouttest

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
	"example.com/informer/scripts/harness/must"
)

// pauseAfterPanic is the time between a call that panics and the next call of the handler.
const pauseAfterPanic = time.Second

// running returns a processor that runs until the test is over.
func running(t *testing.T, fanout processor.Fanout) *processor.Processor {
	p := processor.New(fanout)
	p.Start()
	t.Cleanup(p.Stop)
	return p
}

func add(t *testing.T, p *processor.Processor, handler cache.ResourceEventHandler, options processor.Options,
	present ...processor.Notification) *processor.Registration {
	t.Helper()
	options.Present = slices.Values(present)
	r, err := p.Add(handler, options)
	must.NoError(t, err)
	return r
}

// blocked returns a handler. Each of its calls waits until somebody receives from the channel.
func blocked() (cache.ResourceEventHandler, chan string) {
	calls := make(chan string)
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { calls <- "add " + Version(obj) },
		UpdateFunc: func(_, obj any) { calls <- "update " + Version(obj) },
	}, calls
}

// wantCalls receives the next calls of a blocked handler.
func wantCalls(t *testing.T, calls <-chan string, want ...string) {
	t.Helper()
	for i, w := range want {
		if got := <-calls; got != w {
			t.Errorf("call %d of %d is %q, want %q", i+1, len(want), got, w)
		}
	}
}

// takeCalls receives calls of a blocked handler until it waits for no more of them.
func takeCalls(calls <-chan string) (got []string) {
	for {
		synctest.Wait()
		select {
		case call := <-calls:
			got = append(got, call)
		default:
			return got
		}
	}
}

func allHandlersAreCalled(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		early, late := newRecorder(), newRecorder()
		add(t, p, early, processor.Options{})
		p.Start()
		p.Start() // does no harm
		t.Cleanup(p.Stop)
		initial := Added("a", 1)
		initial.Initial = true
		p.Distribute(initial)
		add(t, p, late, processor.Options{}, initial)
		p.Distribute(Updated("a", 1, 2))
		p.Distribute(Deleted("a", 2, 3))
		want := []string{"add a 1, initial", "update a 1 to 2", "delete a 3"}
		early.want(t, want...)
		late.want(t, want...)
	})
}

// There are more notifications than any buffer of a fixed size would hold.
func aSlowHandlerHoldsUpNobody(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		const updates = 10_000
		p := running(t, fanout)
		stuck, calls := blocked()
		quick := newRecorder()
		add(t, p, stuck, processor.Options{})
		add(t, p, quick, processor.Options{})
		distributed := 0
		go func() {
			for v := range updates {
				p.Distribute(Updated("a", v, v+1))
				distributed++
			}
		}()
		synctest.Wait()
		if distributed != updates {
			t.Errorf("Distribute number %d of %d waits for a handler that is busy", distributed+1, updates)
		}
		var wantQuick, wantStuck []string
		for v := range updates {
			wantQuick = append(wantQuick, fmt.Sprintf("update a %d to %d", v, v+1))
			wantStuck = append(wantStuck, fmt.Sprintf("update %d", v+1))
		}
		WantTexts(t, quick.take(), wantQuick)
		WantTexts(t, takeCalls(calls), wantStuck)
	})
}

func hasSyncedWhenTheHandlerHasReturned(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		stuck, calls := blocked()
		early := add(t, p, stuck, processor.Options{Name: "early"})
		p.Distribute(Added("a", 1))
		p.Synced()
		p.Synced() // does no harm
		p.Distribute(Added("b", 2))
		late := add(t, p, stuck, processor.Options{}, Added("a", 1))
		wantSynced(t, "in the first call", false, early, late)
		<-calls
		<-calls
		wantSynced(t, "after the first call", true, early, late)
		if !cache.WaitFor(t.Context(), "", early.HasSyncedChecker()) {
			t.Error("WaitFor() = false, want true")
		}
		if name := early.Name(); name != "early" {
			t.Errorf("Name() = %q, want early", name)
		}
		<-calls
	})
}

// wantSynced waits until all goroutines are blocked, and checks HasSynced of registrations.
func wantSynced(t *testing.T, when string, want bool, registrations ...*processor.Registration) {
	t.Helper()
	synctest.Wait()
	for i, r := range registrations {
		if got := r.HasSynced(); got != want {
			t.Errorf("%s: HasSynced() = %t for handler %d, want %t", when, got, i+1, want)
		}
	}
}

func anEmptyListSyncs(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		early := add(t, p, newRecorder(), processor.Options{})
		p.Start()
		t.Cleanup(p.Stop)
		joined := add(t, p, newRecorder(), processor.Options{})
		wantSynced(t, "before the list", false, early, joined)
		p.Synced()
		wantSynced(t, "after an empty list", true, early, joined)
	})
}

// The goroutine of a handler reads Options.Present. Add does not wait for it, later notifications
// come after it, and a removed handler leaves the rest unread.
func aHandlerReadsWhatIsPresentInItsOwnGoroutine(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		p.Synced()
		handler, calls := blocked()
		read := 0
		r, err := p.Add(handler, processor.Options{Present: func(yield func(processor.Notification) bool) {
			for read = 1; yield(Added("a", read)); read++ {
			}
		}})
		must.NoError(t, err)
		p.Distribute(Updated("a", 1, 9))
		wantCalls(t, calls, "add 1", "add 2")
		wantSynced(t, "in the third call", false, r)
		p.Remove(r)
		wantCalls(t, calls, "add 3")
		<-r.ShutdownChan()
		if read != 4 {
			t.Errorf("%d notifications were read, want 4: three calls, and one that was not made", read)
		}
		wantSynced(t, "after the removal", false, r)

		second, calls := blocked()
		r = add(t, p, second, processor.Options{}, Added("a", 9))
		p.Distribute(Updated("a", 9, 10))
		wantCalls(t, calls, "add 9", "update 10")
		wantSynced(t, "after all calls", true, r)
	})
}
