// The tests of a processor and its handlers.

package fanouttest

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

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
	must.Do(t, err)
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

func AllHandlersAreCalled(t *testing.T, newFanout func() processor.Fanout) {
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

func ASlowHandlerHoldsUpNobody(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		stuck, calls := blocked()
		quick := newRecorder()
		add(t, p, stuck, processor.Options{})
		add(t, p, quick, processor.Options{})
		p.Distribute(Added("a", 1))
		p.Distribute(Updated("a", 1, 2))
		quick.want(t, "add a 1", "update a 1 to 2")
		wantCalls(t, calls, "add 1", "update 2")
	})
}

func HasSyncedWhenTheHandlerHasReturned(t *testing.T, newFanout func() processor.Fanout) {
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

func AnEmptyListSyncs(t *testing.T, newFanout func() processor.Fanout) {
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

func ResyncsAreForHandlersThatAreDue(t *testing.T, newFanout func() processor.Fanout) {
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

func ResyncsAreForNewcomersToo(t *testing.T, newFanout func() processor.Fanout) {
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

func ARemovedHandlerIsNotCalled(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		stuck, calls := blocked()
		stays := newRecorder()
		r := add(t, p, stuck, processor.Options{})
		add(t, p, stays, processor.Options{})
		p.Distribute(Added("a", 1))
		p.Distribute(Added("b", 2))
		synctest.Wait() // the handler is in its first call
		p.Remove(r)
		p.Remove(r) // does no harm
		select {
		case <-r.ShutdownChan():
			t.Error("ShutdownChan is closed while a call is under way")
		default:
		}
		<-calls
		<-r.ShutdownChan() // and no second call was made
		p.Distribute(Added("c", 3))
		stays.want(t, "add a 1", "add b 2", "add c 3")
	})
}

func AHandlerMayRemoveItself(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		var r *processor.Registration
		calls := 0
		ready := make(chan struct{})
		r = add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			<-ready
			calls++
			p.Remove(r)
		}}, processor.Options{})
		close(ready)
		p.Distribute(Added("a", 1))
		p.Distribute(Added("b", 2))
		<-r.ShutdownChan()
		if calls != 1 {
			t.Errorf("the handler got %d calls, want 1", calls)
		}
	})
}

func RemovedBeforeTheStart(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		recorder := newRecorder()
		r := add(t, p, recorder, processor.Options{})
		p.Remove(r)
		<-r.ShutdownChan()
		p.Start()
		t.Cleanup(p.Stop)
		p.Distribute(Added("a", 1))
		recorder.want(t)
	})
}

// onPanic replaces utilruntime's PanicHandlers by one function, until the test ends.
func onPanic(t *testing.T, report func(context.Context, any)) {
	handlers := utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	utilruntime.PanicHandlers = []func(context.Context, any){report}
}

func APanicIsReportedAndTheNextCallIsMadeASecondLater(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		var logged strings.Builder
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logged)))
		var reported []string
		onPanic(t, func(ctx context.Context, p any) {
			klog.FromContext(ctx).Info("reported")
			reported = append(reported, fmt.Sprintf("%v, from here: %t",
				p, strings.Contains(string(debug.Stack()), "fanouttest/handlers.go")))
		})
		p := running(t, fanout)
		shaky, steady := newRecorder(), newRecorder()
		r := add(t, p, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { panic("oh no") },
			UpdateFunc: shaky.UpdateFunc,
		}, processor.Options{Logger: &logger})
		add(t, p, steady, processor.Options{})
		p.Distribute(Added("a", 1))
		p.Synced()
		p.Distribute(Updated("a", 1, 2))
		steady.want(t, "add a 1", "update a 1 to 2")
		wantSynced(t, "after a call that panicked", true, r)
		if want := []string{"oh no, from here: true"}; !slices.Equal(reported, want) {
			t.Errorf("the PanicHandler got %q, want %q", reported, want)
		}
		if got, want := logged.String(), `object="a"`; !strings.Contains(got, want) {
			t.Errorf("the handler's logger has %q, want a line with %q", got, want)
		}
		time.Sleep(pauseAfterPanic - time.Nanosecond)
		shaky.want(t)
		time.Sleep(time.Nanosecond)
		shaky.want(t, "update a 1 to 2")
	})
}

func ThePauseAfterAPanicEndsWithTheRegistration(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		onPanic(t, func(context.Context, any) {})
		p := running(t, fanout)
		r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("oh no") }}, processor.Options{})
		p.Distribute(Added("a", 1))
		p.Distribute(Added("b", 2))
		synctest.Wait()
		start := time.Now()
		p.Remove(r)
		<-r.ShutdownChan()
		if took := time.Since(start); took != 0 {
			t.Errorf("the handler ended %v after its removal, want 0", took)
		}
	})
}

// Remove may return between the decision to make a call and the first line of the handler. So one
// call may begin after Remove, but not a second one. After ShutdownChan is closed, no call begins.
func AtMostOneCallBeginsAfterRemove(t *testing.T, newFanout func() processor.Fanout) {
	const rounds = 500
	seen := 0
	for range rounds {
		p := processor.New(newFanout())
		p.Start()
		var removed, ended atomic.Bool
		var late, tooLate atomic.Int32
		began := make(chan struct{}, 20)
		r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			if removed.Load() {
				late.Add(1)
			}
			if ended.Load() {
				tooLate.Add(1)
			}
			began <- struct{}{}
		}}, processor.Options{})
		for v := range cap(began) {
			p.Distribute(Added("a", v))
		}
		<-began
		p.Remove(r)
		removed.Store(true)
		<-r.ShutdownChan()
		ended.Store(true)
		p.Distribute(Added("b", 1))
		p.Stop()
		if late.Load() > 1 || tooLate.Load() > 0 {
			t.Fatalf("%d calls began after Remove, %d after ShutdownChan was closed; want at most 1, 0",
				late.Load(), tooLate.Load())
		}
		seen += int(late.Load())
	}
	t.Logf("a call began after Remove in %d of %d rounds", seen, rounds)
}

// A listenerKeeper is a Fanout that keeps its listeners.
type listenerKeeper struct {
	processor.Fanout
	listeners []processor.Listener
}

func (k *listenerKeeper) Listen(folded func(saved, waiting int)) processor.Listener {
	l := k.Fanout.Listen(folded)
	k.listeners = append(k.listeners, l)
	return l
}

// t.FailNow in a handler does this.
func AHandlerThatEndsItsGoroutineLeaves(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		keeper := &listenerKeeper{Fanout: fanout}
		p := running(t, keeper)
		stays := newRecorder()
		r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { runtime.Goexit() }}, processor.Options{})
		add(t, p, stays, processor.Options{})
		p.Distribute(Added("a", 1))
		<-r.ShutdownChan()
		p.Distribute(Added("b", 2))
		stays.want(t, "add a 1", "add b 2")
		if waiting := keeper.listeners[0].Waiting(); waiting != 0 {
			t.Errorf("Waiting() = %d for a handler that has ended, want 0", waiting)
		}
	})
}

func StopWaitsForCallsAndDropsTheRest(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		stuck, calls := blocked()
		r := add(t, p, stuck, processor.Options{})
		p.Start()
		for v := range 10 {
			p.Distribute(Updated("a", v, v+1))
		}
		synctest.Wait()
		stopped := make(chan struct{})
		go func() {
			p.Stop()
			close(stopped)
		}()
		synctest.Wait()
		select {
		case <-stopped:
			t.Error("Stop() has returned while a call is under way")
		default:
		}
		<-calls
		<-stopped
		<-r.ShutdownChan()
		p.Distribute(Added("b", 2)) // reaches nobody
		_, err := p.Add(stuck, processor.Options{})
		if err == nil {
			t.Error("Add() = nil after Stop, want an error")
		}
	})
}

func StoppedBeforeTheStart(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := processor.New(fanout)
		r := add(t, p, newRecorder(), processor.Options{})
		p.Stop()
		p.Start()
		<-r.ShutdownChan()
	})
}

// The goroutine of a handler reads Options.Present. Add does not wait for it, later notifications
// come after it, and a removed handler leaves the rest unread.
func AHandlerReadsWhatIsPresentInItsOwnGoroutine(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		p := running(t, fanout)
		p.Synced()
		handler, calls := blocked()
		read := 0
		r, err := p.Add(handler, processor.Options{Present: func(yield func(processor.Notification) bool) {
			for read = 1; yield(Added("a", read)); read++ {
			}
		}})
		must.Do(t, err)
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
