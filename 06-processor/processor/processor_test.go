package processor

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

	"example.com/informer/scripts/harness/must"
)

// running returns a processor that runs until the test is over.
func running(t *testing.T, fanout Fanout) *Processor {
	p := New(fanout)
	p.Start()
	t.Cleanup(p.Stop)
	return p
}

func add(t *testing.T, p *Processor, handler cache.ResourceEventHandler, options Options,
	present ...Notification) *Registration {
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
		AddFunc:    func(obj any) { calls <- "add " + version(obj) },
		UpdateFunc: func(_, obj any) { calls <- "update " + version(obj) },
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

func TestAllHandlersAreCalled(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := New(fanout)
		early, late := newRecorder(), newRecorder()
		add(t, p, early, Options{})
		p.Start()
		p.Start() // does no harm
		t.Cleanup(p.Stop)
		initial := added("a", 1)
		initial.Initial = true
		p.Distribute(initial)
		add(t, p, late, Options{}, initial)
		p.Distribute(updated("a", 1, 2))
		p.Distribute(deleted("a", 2, 3))
		want := []string{"add a 1, initial", "update a 1 to 2", "delete a 3"}
		early.want(t, want...)
		late.want(t, want...)
	})
}

func TestASlowHandlerHoldsUpNobody(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		stuck, calls := blocked()
		quick := newRecorder()
		add(t, p, stuck, Options{})
		add(t, p, quick, Options{})
		p.Distribute(added("a", 1))
		p.Distribute(updated("a", 1, 2))
		quick.want(t, "add a 1", "update a 1 to 2")
		wantCalls(t, calls, "add 1", "update 2")
	})
}

func TestHasSyncedWhenTheHandlerHasReturned(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		stuck, calls := blocked()
		early := add(t, p, stuck, Options{Name: "early"})
		p.Distribute(added("a", 1))
		p.Synced()
		p.Synced() // does no harm
		p.Distribute(added("b", 2))
		late := add(t, p, stuck, Options{}, added("a", 1))
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
func wantSynced(t *testing.T, when string, want bool, registrations ...*Registration) {
	t.Helper()
	synctest.Wait()
	for i, r := range registrations {
		if got := r.HasSynced(); got != want {
			t.Errorf("%s: HasSynced() = %t for handler %d, want %t", when, got, i+1, want)
		}
	}
}

func TestAnEmptyListSyncs(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := New(fanout)
		early := add(t, p, newRecorder(), Options{})
		p.Start()
		t.Cleanup(p.Stop)
		joined := add(t, p, newRecorder(), Options{})
		wantSynced(t, "before the list", false, early, joined)
		p.Synced()
		wantSynced(t, "after an empty list", true, early, joined)
	})
}

func TestResyncsAreForHandlersThatAreDue(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		never, each, third := newRecorder(), newRecorder(), newRecorder()
		add(t, p, never, Options{})
		add(t, p, each, Options{ResyncPeriod: time.Minute})
		add(t, p, third, Options{ResyncPeriod: 3 * time.Minute})
		for minute := range 6 {
			time.Sleep(time.Minute)
			if !p.ShouldResync(time.Now()) {
				t.Errorf("ShouldResync() = false in minute %d, want true", minute+1)
			}
			p.Resync(updated("a", minute, minute))
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

func TestResyncsAreForNewcomersToo(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		before, after := newRecorder(), newRecorder()
		add(t, p, before, Options{})
		p.ShouldResync(time.Now())
		add(t, p, after, Options{})
		p.Resync(updated("a", 1, 1))
		before.want(t)
		after.want(t, "update a 1 to 1")
	})
}

func TestARemovedHandlerIsNotCalled(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		stuck, calls := blocked()
		stays := newRecorder()
		r := add(t, p, stuck, Options{})
		add(t, p, stays, Options{})
		p.Distribute(added("a", 1))
		p.Distribute(added("b", 2))
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
		p.Distribute(added("c", 3))
		stays.want(t, "add a 1", "add b 2", "add c 3")
	})
}

func TestAHandlerMayRemoveItself(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		var r *Registration
		calls := 0
		ready := make(chan struct{})
		r = add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			<-ready
			calls++
			p.Remove(r)
		}}, Options{})
		close(ready)
		p.Distribute(added("a", 1))
		p.Distribute(added("b", 2))
		<-r.ShutdownChan()
		if calls != 1 {
			t.Errorf("the handler got %d calls, want 1", calls)
		}
	})
}

func TestRemovedBeforeTheStart(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := New(fanout)
		recorder := newRecorder()
		r := add(t, p, recorder, Options{})
		p.Remove(r)
		<-r.ShutdownChan()
		p.Start()
		t.Cleanup(p.Stop)
		p.Distribute(added("a", 1))
		recorder.want(t)
	})
}

// onPanic replaces utilruntime's PanicHandlers by one function, until the test ends.
func onPanic(t *testing.T, report func(context.Context, any)) {
	handlers := utilruntime.PanicHandlers
	t.Cleanup(func() { utilruntime.PanicHandlers = handlers })
	utilruntime.PanicHandlers = []func(context.Context, any){report}
}

func TestAPanicIsReportedAndTheNextCallIsMadeASecondLater(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		var logged strings.Builder
		logger := textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(&logged)))
		var reported []string
		onPanic(t, func(ctx context.Context, p any) {
			klog.FromContext(ctx).Info("reported")
			reported = append(reported, fmt.Sprintf("%v, from here: %t",
				p, strings.Contains(string(debug.Stack()), "processor_test.go")))
		})
		p := running(t, fanout)
		shaky, steady := newRecorder(), newRecorder()
		r := add(t, p, cache.ResourceEventHandlerFuncs{
			AddFunc:    func(any) { panic("oh no") },
			UpdateFunc: shaky.UpdateFunc,
		}, Options{Logger: &logger})
		add(t, p, steady, Options{})
		p.Distribute(added("a", 1))
		p.Synced()
		p.Distribute(updated("a", 1, 2))
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

func TestThePauseAfterAPanicEndsWithTheRegistration(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		onPanic(t, func(context.Context, any) {})
		p := running(t, fanout)
		r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("oh no") }}, Options{})
		p.Distribute(added("a", 1))
		p.Distribute(added("b", 2))
		synctest.Wait()
		start := time.Now()
		p.Remove(r)
		<-r.ShutdownChan()
		if took := time.Since(start); took != 0 {
			t.Errorf("the handler ended %v after its removal, want 0", took)
		}
	})
}

// Remove may return between the decision to make a call and the first line of the handler. So one call
// may begin after Remove, but not a second one. After ShutdownChan is closed, no call begins.
func TestAtMostOneCallBeginsAfterRemove(t *testing.T) {
	for name, newFanout := range fanouts {
		t.Run(name, func(t *testing.T) {
			const rounds = 500
			seen := 0
			for range rounds {
				p := New(newFanout())
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
				}}, Options{})
				for v := range cap(began) {
					p.Distribute(added("a", v))
				}
				<-began
				p.Remove(r)
				removed.Store(true)
				<-r.ShutdownChan()
				ended.Store(true)
				p.Distribute(added("b", 1))
				p.Stop()
				if late.Load() > 1 || tooLate.Load() > 0 {
					t.Fatalf("%d calls began after Remove, %d after ShutdownChan was closed; want at most 1, 0",
						late.Load(), tooLate.Load())
				}
				seen += int(late.Load())
			}
			t.Logf("a call began after Remove in %d of %d rounds", seen, rounds)
		})
	}
}

// t.FailNow in a handler does this.
func TestAHandlerThatEndsItsGoroutineLeaves(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		stays := newRecorder()
		r := add(t, p, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { runtime.Goexit() }}, Options{})
		add(t, p, stays, Options{})
		p.Distribute(added("a", 1))
		<-r.ShutdownChan()
		p.Distribute(added("b", 2))
		stays.want(t, "add a 1", "add b 2")
		if waiting := r.listener.Waiting(); waiting != 0 {
			t.Errorf("Waiting() = %d for a handler that has ended, want 0", waiting)
		}
	})
}

func TestStopWaitsForCallsAndDropsTheRest(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := New(fanout)
		stuck, calls := blocked()
		r := add(t, p, stuck, Options{})
		p.Start()
		for v := range 10 {
			p.Distribute(updated("a", v, v+1))
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
		p.Distribute(added("b", 2)) // reaches nobody
		_, err := p.Add(stuck, Options{})
		if err == nil {
			t.Error("Add() = nil after Stop, want an error")
		}
	})
}

func TestStoppedBeforeTheStart(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := New(fanout)
		r := add(t, p, newRecorder(), Options{})
		p.Stop()
		p.Start()
		<-r.ShutdownChan()
	})
}

// The goroutine of a handler reads Options.Present. Add does not wait for it, later notifications come
// after it, and a removed handler leaves the rest unread.
func TestAHandlerReadsWhatIsPresentInItsOwnGoroutine(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		p := running(t, fanout)
		p.Synced()
		handler, calls := blocked()
		read := 0
		r, err := p.Add(handler, Options{Present: func(yield func(Notification) bool) {
			for read = 1; yield(added("a", read)); read++ {
			}
		}})
		must.Do(t, err)
		p.Distribute(updated("a", 1, 9))
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
		r = add(t, p, second, Options{}, added("a", 9))
		p.Distribute(updated("a", 9, 10))
		wantCalls(t, calls, "add 9", "update 10")
		wantSynced(t, "after all calls", true, r)
	})
}
