package processor

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/scripts/harness/expect"
)

// round updates each of some objects from one version to the next.
func round(fanout Fanout, objects, v int) {
	for o := range objects {
		fanout.Distribute(updated(fmt.Sprint("pod ", o), v, v+1))
	}
}

func TestAListenerFarBehindIsFolded(t *testing.T) {
	const objects, rounds = 100, 1000
	fanout := NewLog()
	saved := 0
	stuck, prompt := fanout.Listen(func(n, _ int) { saved += n }), fanout.Listen(nil)
	for o := range objects {
		fanout.Distribute(added(fmt.Sprint("pod ", o), 0))
	}
	read(prompt, objects)
	defer stuck.Close()
	defer prompt.Close()
	read(stuck, objects) // and from here on it does not listen
	for v := range rounds {
		round(fanout, objects, v)
		read(prompt, objects)
		if limit := 2*objects + defaultPatience + chunkSize; stuck.Waiting() > limit {
			t.Fatalf("%d notifications wait, want at most %d", stuck.Waiting(), limit)
		}
	}
	if limit := objects + chunkSize; stuck.Waiting() > limit {
		t.Errorf("%d notifications wait, want at most %d: one for each object, and a chunk", stuck.Waiting(), limit)
	}
	if waiting := stuck.Waiting(); waiting+saved != objects*rounds {
		t.Errorf("%d notifications wait and %d are saved, want %d in all", waiting, saved, objects*rounds)
	}
	delivered := map[string]int{}
	for stuck.Waiting() > 0 {
		for _, n := range stuck.Next() {
			if number(n.Old) != delivered[n.Key] {
				t.Errorf("%s: %s, but delivered before was %d", n.Key, text(n), delivered[n.Key])
			}
			delivered[n.Key] = number(n.New)
		}
	}
	expect.That(t, len(delivered) == objects, "notified of %d objects, want %d", len(delivered), objects)
	for key, v := range delivered {
		expect.That(t, v == rounds, "%s ends at %d, want %d", key, v, rounds)
	}
}

// It was far behind, and has caught up: from then on it gets every change again.
func TestAListenerThatHasCaughtUpIsNotFolded(t *testing.T) {
	fanout := NewLog()
	l := fanout.Listen(nil)
	defer l.Close()
	fanout.Distribute(added("a", 0))
	v := 0
	for l.Waiting() <= defaultPatience {
		fanout.Distribute(updated("a", v, v+1))
		v++
	}
	for l.Waiting() > chunkSize {
		fanout.Distribute(updated("a", v, v+1))
		v++
	}
	for l.Waiting() > 0 {
		l.Next()
	}
	var want []string
	for range 2 * chunkSize {
		n := updated("a", v, v+1)
		fanout.Distribute(n)
		want = append(want, text(n))
		v++
	}
	got := texts(read(l, len(want)))
	expect.That(t, slices.Equal(got, want), "%d notifications, want all %d", len(got), len(want))
}

// What makes the log cheap: a chunk never grows, what is read of it has no room for
// more, and a tail with little in it is kept.
func TestChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := NewLog()
		l := fanout.Listen(nil)
		for v := range chunkSize + 1 {
			fanout.Distribute(updated("a", v, v+1))
			if size := cap(fanout.tail.items); size > chunkSize {
				t.Fatalf("a chunk has room for %d, want at most %d", size, chunkSize)
			}
			if batch := l.Next(); cap(batch) > len(batch) {
				t.Fatalf("Next() returns %d, with room for %d: that is the log's", len(batch), cap(batch))
			}
		}
		fanout.Distribute(Notification{Kind: synced})
		l.Next()
		waiting := l.Waiting()
		expect.That(t, waiting == 0, "%d wait after the end of the initial list was read, want 0", waiting)
		tail := fanout.tail
		go l.Next()
		synctest.Wait()
		expect.That(t, fanout.tail == tail,
			"a tail of %d was dropped, want that from %d on", len(tail.items), smallSize)
		l.Close()
	})
}

// A list of many objects is no backlog, whatever the patience. Patience may be as
// large as an int can be: that is never. Less than none is none.
func TestPatience(t *testing.T) {
	const objects = 20 * chunkSize
	for patience, folded := range map[int]bool{
		math.MaxInt: false, math.MaxInt - 1: false, objects: false, 0: true, -1: true, math.MinInt: true,
	} {
		fanout := NewLog()
		fanout.SetPatience(patience)
		l := fanout.Listen(nil)
		for o := range objects {
			fanout.Distribute(added(fmt.Sprint(o), 1))
			fanout.Distribute(updated(fmt.Sprint(o), 1, 2))
		}
		if waiting := l.Waiting(); waiting != 2*objects {
			t.Errorf("patience %d: %d notifications wait, want two for each object", patience, waiting)
		}
		for o := range objects {
			fanout.Distribute(updated(fmt.Sprint(o), 2, 3))
		}
		if waiting := l.Waiting(); (waiting < 3*objects) != folded {
			t.Errorf("patience %d: %d of %d notifications wait", patience, waiting, 3*objects)
		}
		l.Close()
	}
}

// A listener does not get a resync that it did not ask for, not even after
// folding.
func TestFoldingLeavesOutWhatIsSkipped(t *testing.T) {
	fanout := NewLog()
	l := fanout.Listen(nil)
	defer l.Close()
	fanout.Distribute(added("a", 1))
	read(l, 1)
	for range defaultPatience + 20*chunkSize {
		n := updated("a", 1, 1)
		n.skip = map[Listener]bool{l: true}
		fanout.Distribute(n)
	}
	waiting := l.Waiting()
	expect.That(t, waiting <= chunkSize, "%d notifications wait, want at most a chunk of them", waiting)
}

// distributeOne distributes an add of an object that nobody else has.
func distributeOne(fanout Fanout) weak.Pointer[corev1.Pod] {
	object := pod("a", 1)
	fanout.Distribute(Notification{Kind: Added, Key: "a", New: object})
	return weak.Make(object)
}

// drain is a listener that reads all there is.
func drain(fanout Fanout) Listener {
	l := fanout.Listen(nil)
	go func() {
		for l.Next() != nil {
		}
	}()
	return l
}

func wantGarbage(t *testing.T, object weak.Pointer[corev1.Pod]) {
	t.Helper()
	for range 10 {
		if runtime.GC(); object.Value() == nil {
			return
		}
	}
	t.Error("the fan-out keeps alive what was read")
}

// Nothing more is written: what was delivered is not kept until something is.
func TestWhatAllHaveReadIsGarbageThoughAllIsQuiet(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		for range 3 {
			defer drain(fanout).Close()
		}
		object := distributeOne(fanout)
		for v := range smallSize {
			fanout.Distribute(updated("b", v, v+1))
		}
		synctest.Wait()
		wantGarbage(t, object)
	})
}

// One listener has not read, and leaves: what it alone had to read goes with it.
func TestWhatOnlyAClosedListenerHadToReadIsGarbage(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		for range 2 {
			defer drain(fanout).Close()
		}
		unread := fanout.Listen(nil)
		object := distributeOne(fanout)
		synctest.Wait()
		unread.Close()
		wantGarbage(t, object)
	})
}

// It has read, and leaves: whoever still has the listener does not have what it read.
func TestWhatAClosedListenerHasReadIsGarbage(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		l := fanout.Listen(nil)
		object := distributeOne(fanout)
		if batch := l.Next(); batch[0].Key != "a" {
			t.Fatalf("Next() = %q", texts(batch))
		}
		l.Close()
		wantGarbage(t, object)
		runtime.KeepAlive(l)
	})
}

func TestNothingIsKeptForNobody(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		wantGarbage(t, distributeOne(fanout))
		l := fanout.Listen(nil)
		object := distributeOne(fanout)
		l.Close()
		wantGarbage(t, object)
		runtime.KeepAlive(l)
	})
}

func TestWhatEveryCursorHasPassedIsGarbage(t *testing.T) {
	fanout := NewLog()
	l := fanout.Listen(nil)
	defer l.Close()
	object := distributeOne(fanout)
	read(l, 1)
	for v := range chunkSize {
		fanout.Distribute(updated("b", v, v+1))
	}
	read(l, chunkSize)
	wantGarbage(t, object)
}

// The time it takes to wake is not measured here; that nobody is forgotten is.
func TestEverySleeperIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := NewLog()
		woken := make(chan int, 100)
		for i := range cap(woken) {
			l := fanout.Listen(nil)
			defer l.Close()
			go func() { l.Next(); woken <- i }()
		}
		synctest.Wait()
		fanout.Distribute(added("a", 1))
		for range cap(woken) {
			select {
			case <-woken:
			case <-time.After(time.Minute):
				t.Fatal("a listener sleeps on")
			}
		}
	})
}
