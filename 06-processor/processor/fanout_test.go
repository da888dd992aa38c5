// The tests that both fan-outs pass.

package processor

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// read takes at least n notifications out of a listener.
func read(l Listener, n int) (notifications []Notification) {
	for len(notifications) < n {
		notifications = append(notifications, l.Next()...)
	}
	return notifications
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
			if waiting := l.Waiting(); waiting != events {
				t.Errorf("listener %d: Waiting() = %d, want %d", i, waiting, events)
			}
			wantTexts(t, texts(read(l, events)), want)
			if waiting := l.Waiting(); waiting != 0 {
				t.Errorf("listener %d: Waiting() = %d after all were read, want 0", i, waiting)
			}
		}
	})
}

// wantTexts compares long lists. It shows the first difference, and not both lists.
func wantTexts(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("got %d notifications, want %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			t.Errorf("notification %d is %q, want %q", i, got[i], want[i])
			return
		}
	}
}

// The end of the initial list is not a call. So it does not count as waiting, folded or not.
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
				t.Fatalf("Waiting() = %d after %d notifications, want at most %d", waiting, v+1, v+1)
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
				t.Fatalf("Waiting() = %d, want %d", waiting, left)
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
		if got, want := texts(read(l, 1)), []string{"update a 1 to 3"}; !slices.Equal(got, want) {
			t.Errorf("the listener got %q, want %q", got, want)
		}
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
			t.Fatalf("Next() = %q before anything was distributed, want that it waits", texts(batch))
		default:
		}
		fanout.Distribute(added("a", 1))
		if batch, want := texts(<-got), []string{"add a 1"}; !slices.Equal(batch, want) {
			t.Errorf("Next() = %q, want %q", batch, want)
		}
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
		if batch := <-ended; batch != nil {
			t.Errorf("Next() = %q after Close, want nil", texts(batch))
		}
		full.Close()
		full.Close() // does no harm
		fanout.Distribute(added("b", 2))
		if batch := full.Next(); batch != nil {
			t.Errorf("Next() = %q after Close with a backlog, want nil", texts(batch))
		}
		if waiting := full.Waiting(); waiting != 0 {
			t.Errorf("Waiting() = %d after Close with a backlog, want 0", waiting)
		}
	})
}

// Listeners come, read and go while two goroutines distribute. None of them waits for another.
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
