// The tests of what a fan-out does not keep in memory.

package fanouttest

import (
	"runtime"
	"testing"
	"testing/synctest"
	"weak"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/06-processor/processor"
)

// distributeOne distributes an add of an object that only the fan-out points to.
func distributeOne(fanout processor.Fanout) weak.Pointer[corev1.Pod] {
	object := Pod("a", 1)
	fanout.Distribute(processor.Notification{Kind: processor.Added, Key: "a", New: object})
	return weak.Make(object)
}

// drain adds a listener that reads everything.
func drain(fanout processor.Fanout) processor.Listener {
	l := fanout.Listen(nil)
	go func() {
		for l.Next() != nil {
		}
	}()
	return l
}

// wantGarbage wants that nothing points to the object any more. The error says when that is.
func wantGarbage(t *testing.T, when string, object weak.Pointer[corev1.Pod]) {
	t.Helper()
	for range 10 {
		runtime.GC()
		if object.Value() == nil {
			return
		}
	}
	t.Errorf("%s, the fan-out keeps pod %s alive, want that it is garbage", when, object.Value().Name)
}

// No more notifications come. The fan-out does not wait for one to drop those that were read.
func whatAllHaveReadIsGarbageThoughAllIsQuiet(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		for range 3 {
			defer drain(fanout).Close()
		}
		object := distributeOne(fanout)
		for v := range smallSize {
			fanout.Distribute(Updated("b", v, v+1))
		}
		synctest.Wait()
		wantGarbage(t, "when all listeners have read it", object)
	})
}

// One listener has unread notifications, and closes. The fan-out drops those that only it had to
// read.
func whatOnlyAClosedListenerHadToReadIsGarbage(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		for range 2 {
			defer drain(fanout).Close()
		}
		unread := fanout.Listen(nil)
		object := distributeOne(fanout)
		synctest.Wait()
		unread.Close()
		wantGarbage(t, "after Close of the only listener that had not read it", object)
	})
}

// A closed listener does not keep alive what it has read.
func whatAClosedListenerHasReadIsGarbage(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		l := fanout.Listen(nil)
		object := distributeOne(fanout)
		if batch := l.Next(); batch[0].Key != "a" {
			t.Fatalf("Next() = %q, want the add of a", Texts(batch))
		}
		l.Close()
		wantGarbage(t, "after Close of the listener that had read it", object)
		runtime.KeepAlive(l)
	})
}

func nothingIsKeptForNobody(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		wantGarbage(t, "when nobody listens", distributeOne(fanout))
		l := fanout.Listen(nil)
		for v := range smallSize { // a listener that closes may still take some of them
			fanout.Distribute(Updated("b", v, v+1))
		}
		object := distributeOne(fanout)
		l.Close()
		wantGarbage(t, "after Close of the only listener, which had not read it", object)
		runtime.KeepAlive(l)
	})
}

// Nothing that was read is kept, even if no other notification follows.
func whatWasReadLastIsGarbage(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		defer drain(fanout).Close()
		object := distributeOne(fanout)
		synctest.Wait()
		wantGarbage(t, "when the only listener has read it", object)
	})
}

// A listener that reads on does not keep alive what it has read before.
func whatEveryListenerHasReadIsGarbage(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		l := fanout.Listen(nil)
		defer l.Close()
		object := distributeOne(fanout)
		Read(l, 1)
		for v := range chunkSize {
			fanout.Distribute(Updated("b", v, v+1))
		}
		Read(l, chunkSize)
		wantGarbage(t, "when the listener has read on", object)
	})
}
