package processor

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	corev1 "k8s.io/api/core/v1"
)

// round updates each object from version v to the next.
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
	read(stuck, objects) // from here on it reads nothing
	for v := range rounds {
		round(fanout, objects, v)
		read(prompt, objects)
		if limit, waiting := 2*objects+defaultPatience+chunkSize, stuck.Waiting(); waiting > limit {
			t.Fatalf("Waiting() = %d in round %d, want at most %d", waiting, v, limit)
		}
	}
	waiting := stuck.Waiting()
	if limit := objects + chunkSize; waiting > limit {
		t.Errorf("Waiting() = %d in the end, want at most %d: one for each object, and a chunk", waiting, limit)
	}
	if waiting+saved != objects*rounds {
		t.Errorf("%d notifications wait and %d are saved, want %d in all", waiting, saved, objects*rounds)
	}
	delivered := map[string]int{}
	for stuck.Waiting() > 0 {
		for _, n := range stuck.Next() {
			if number(n.Old) != delivered[n.Key] {
				t.Errorf("%q has the old version %d, want the delivered version %d",
					text(n), number(n.Old), delivered[n.Key])
			}
			delivered[n.Key] = number(n.New)
		}
	}
	if len(delivered) != objects {
		t.Errorf("notifications of %d objects, want %d", len(delivered), objects)
	}
	for key, v := range delivered {
		if v != rounds {
			t.Errorf("the last version of %s is %d, want %d", key, v, rounds)
		}
	}
}

// A listener was far behind, and has caught up. From then on it gets every change again.
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
	wantTexts(t, texts(read(l, len(want))), want)
}

// Three things keep the log cheap: a chunk never grows, Next returns slices without spare room, and a
// tail with few items is kept.
func TestChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := NewLog()
		l := fanout.Listen(nil)
		for v := range chunkSize + 1 {
			fanout.Distribute(updated("a", v, v+1))
			if size := cap(fanout.tail.items); size > chunkSize {
				t.Fatalf("the capacity of a chunk is %d, want at most %d", size, chunkSize)
			}
			if batch := l.Next(); cap(batch) > len(batch) {
				t.Fatalf("Next() returned a slice of length %d and capacity %d, want no spare room",
					len(batch), cap(batch))
			}
		}
		fanout.Distribute(Notification{Kind: synced})
		l.Next()
		if waiting := l.Waiting(); waiting != 0 {
			t.Errorf("Waiting() = %d after the end of the initial list was read, want 0", waiting)
		}
		tail := fanout.tail
		go l.Next()
		synctest.Wait()
		if fanout.tail != tail {
			t.Errorf("a tail of %d items was dropped, want that only a tail of %d or more is",
				len(tail.items), smallSize)
		}
		l.Close()
	})
}

// Two notifications for each object are never folded, whatever the patience. With a patience of
// math.MaxInt nothing is. A negative patience counts as 0.
func TestPatience(t *testing.T) {
	const objects = 20 * chunkSize
	for _, test := range []struct {
		patience   int
		wantFolded bool // after three notifications for each object
	}{
		{patience: math.MaxInt, wantFolded: false},
		{patience: math.MaxInt - 1, wantFolded: false},
		{patience: objects, wantFolded: false},
		{patience: 0, wantFolded: true},
		{patience: -1, wantFolded: true},
		{patience: math.MinInt, wantFolded: true},
	} {
		fanout := NewLog()
		fanout.SetPatience(test.patience)
		l := fanout.Listen(nil)
		for o := range objects {
			fanout.Distribute(added(fmt.Sprint(o), 1))
			fanout.Distribute(updated(fmt.Sprint(o), 1, 2))
		}
		if waiting := l.Waiting(); waiting != 2*objects {
			t.Errorf("patience %d: Waiting() = %d, want %d: two for each object", test.patience, waiting, 2*objects)
		}
		for o := range objects {
			fanout.Distribute(updated(fmt.Sprint(o), 2, 3))
		}
		waiting := l.Waiting()
		if folded := waiting < 3*objects; folded != test.wantFolded {
			t.Errorf("patience %d: Waiting() = %d of %d, folded = %t; want folded = %t",
				test.patience, waiting, 3*objects, folded, test.wantFolded)
		}
		l.Close()
	}
}

// A listener does not get a resync that it skips, not even after folding.
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
	if waiting := l.Waiting(); waiting > chunkSize {
		t.Errorf("Waiting() = %d, want at most %d: a chunk", waiting, chunkSize)
	}
}

// distributeOne distributes an add of an object that only the fan-out points to.
func distributeOne(fanout Fanout) weak.Pointer[corev1.Pod] {
	object := pod("a", 1)
	fanout.Distribute(Notification{Kind: Added, Key: "a", New: object})
	return weak.Make(object)
}

// drain adds a listener that reads everything.
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
		runtime.GC()
		if object.Value() == nil {
			return
		}
	}
	t.Errorf("the fan-out keeps pod %s alive, want that it is garbage", object.Value().Name)
}

// No more notifications come. The fan-out does not wait for one to drop those that were read.
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

// One listener has unread notifications, and closes. The fan-out drops those that only it had to read.
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

// A closed listener does not keep alive what it has read.
func TestWhatAClosedListenerHasReadIsGarbage(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		l := fanout.Listen(nil)
		object := distributeOne(fanout)
		if batch := l.Next(); batch[0].Key != "a" {
			t.Fatalf("Next() = %q, want the add of a", texts(batch))
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

// One notification wakes all listeners that wait.
func TestEverySleeperIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := NewLog()
		woken := make(chan int, 100)
		for i := range cap(woken) {
			l := fanout.Listen(nil)
			defer l.Close()
			go func() {
				l.Next()
				woken <- i
			}()
		}
		synctest.Wait()
		fanout.Distribute(added("a", 1))
		for n := range cap(woken) {
			select {
			case <-woken:
			case <-time.After(time.Minute):
				t.Fatalf("%d listeners were woken, want %d", n, cap(woken))
			}
		}
	})
}
