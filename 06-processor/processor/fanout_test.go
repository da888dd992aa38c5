// What both implementations of Fanout have in common.

package processor

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/informer/scripts/harness/expect"
)

// read takes n notifications out of a listener.
func read(l Listener, n int) (all []Notification) {
	for len(all) < n {
		all = append(all, l.Next()...)
	}
	return all
}

func TestEveryListenerGetsEverythingInOrder(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		const events = 3*chunkSize + 1
		var listeners []Listener
		for range 3 {
			l := fanout.Listen(nil)
			defer l.Close()
			listeners = append(listeners, l)
		}
		var want []string
		for v := range events {
			n := updated("a", v, v+1)
			fanout.Distribute(n)
			want = append(want, text(n))
		}
		for i, l := range listeners {
			synctest.Wait()
			waiting := l.Waiting()
			expect.That(t, waiting == events, "listener %d: %d notifications wait, want %d", i, waiting, events)
			if got := texts(read(l, events)); !slices.Equal(got, want) {
				t.Errorf("listener %d got %d notifications, and not those that were sent", i, len(got))
			}
			waiting = l.Waiting()
			expect.That(t, waiting == 0, "listener %d: %d notifications wait after all were read", i, waiting)
		}
	})
}

// The end of the initial list is no call: it does not wait, folded or not.
func TestTheEndOfTheInitialListIsNotCounted(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		l := fanout.Listen(nil)
		defer l.Close()
		if log, ok := fanout.(*Log); ok {
			log.SetPatience(1)
		}
		fanout.Distribute(added("a", 1))
		fanout.Distribute(Notification{Kind: synced})
		for v := range 2 * chunkSize {
			if waiting := l.Waiting(); waiting > v+1 {
				t.Fatalf("%d notifications wait, and there were %d", waiting, v+1)
			}
			fanout.Distribute(updated("a", v+1, v+2))
		}
		for left, marks := l.Waiting(), 0; left > 0 || marks == 0; {
			for _, n := range l.Next() {
				if n.Kind == synced {
					marks++
				} else {
					left--
				}
			}
			if waiting := l.Waiting(); waiting != left {
				t.Fatalf("%d notifications wait, and %d are to come", waiting, left)
			}
		}
	})
}

func TestAListenerGetsNothingOfThePast(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		fanout.Distribute(added("past", 1)) // reaches nobody
		l := fanout.Listen(nil)
		defer l.Close()
		fanout.Distribute(updated("a", 1, 3))
		got := text(read(l, 1)[0])
		expect.That(t, got == "update a 1 to 3", "first comes %q", got)
	})
}

func TestNextWaits(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		l := fanout.Listen(nil)
		defer l.Close()
		got := make(chan []Notification, 1)
		go func() { got <- l.Next() }()
		synctest.Wait()
		select {
		case batch := <-got:
			t.Fatalf("Next() = %q, and nothing was distributed", texts(batch))
		default:
		}
		fanout.Distribute(added("a", 1))
		batch := texts(<-got)
		expect.That(t, slices.Equal(batch, []string{"add a 1"}), "Next() = %q, want the add", batch)
	})
}

func TestCloseEndsNextAndDropsWhatWaits(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		waiting, full := fanout.Listen(nil), fanout.Listen(nil)
		fanout.Distribute(added("a", 1))
		read(waiting, 1)
		ended := make(chan []Notification)
		go func() { ended <- waiting.Next() }()
		synctest.Wait()
		waiting.Close()
		batch := <-ended
		expect.That(t, batch == nil, "Next() = %q after Close, want nil", texts(batch))
		full.Close()
		full.Close() // does no harm
		fanout.Distribute(added("b", 2))
		if batch, n := full.Next(), full.Waiting(); batch != nil || n != 0 {
			t.Errorf("Next() = %q and Waiting() = %d after Close, want nil and 0", texts(batch), n)
		}
	})
}

// Nobody waits for anybody: listeners come, read and go while two goroutines
// distribute.
func TestListenersComeAndGo(t *testing.T) {
	eachFanout(t, func(t *testing.T, fanout Fanout) {
		var sending, reading sync.WaitGroup
		for s := range 2 {
			sending.Go(func() {
				for v := range 2000 {
					fanout.Distribute(updated(fmt.Sprint("sender ", s), v, v+1))
				}
			})
		}
		for range 20 {
			reading.Go(func() {
				for range 50 {
					l := fanout.Listen(nil)
					fanout.Distribute(added("a", 1))
					read(l, 1)
					l.Close()
				}
			})
		}
		sending.Wait()
		reading.Wait()
	})
}
