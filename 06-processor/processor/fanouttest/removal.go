// Handlers that are removed, or that leave by themselves.

package fanouttest

import (
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

func aRemovedHandlerIsNotCalled(t *testing.T, newFanout func() processor.Fanout) {
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

func aHandlerMayRemoveItself(t *testing.T, newFanout func() processor.Fanout) {
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

func removedBeforeTheStart(t *testing.T, newFanout func() processor.Fanout) {
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

// Remove may return between the decision to make a call and the first line of the handler. So one
// call may begin after Remove, but not a second one. After ShutdownChan is closed, no call begins.
func atMostOneCallBeginsAfterRemove(t *testing.T, newFanout func() processor.Fanout) {
	for range 500 {
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
	}
}

// A listenerKeeper is a Fanout that keeps its listeners.
type listenerKeeper struct {
	processor.Fanout
	listeners []processor.Listener
}

func (k *listenerKeeper) Listen(handler *processor.Registration) processor.Listener {
	l := k.Fanout.Listen(handler)
	k.listeners = append(k.listeners, l)
	return l
}

// t.FailNow in a handler does this.
func aHandlerThatEndsItsGoroutineLeaves(t *testing.T, newFanout func() processor.Fanout) {
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
