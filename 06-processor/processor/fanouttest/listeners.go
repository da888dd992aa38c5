// The tests of listeners.

package fanouttest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"example.com/informer/06-processor/processor"
)

// A Fanout may keep notifications in pieces, as the journal of chapter 07 does. chunkSize is the
// number of notifications in a piece. A piece with fewer than smallSize may be kept.
const (
	chunkSize = 256
	smallSize = 16
)

// Read takes at least n notifications out of a listener.
func Read(l processor.Listener, n int) (notifications []processor.Notification) {
	for len(notifications) < n {
		notifications = append(notifications, l.Next()...)
	}
	return notifications
}

// startReading takes out of a listener what it has, and what it gets later, until it is closed. all
// waits until nothing more comes, and returns what has come so far. It is for a bubble of
// testing/synctest.
func startReading(l processor.Listener) (all func() []processor.Notification) {
	var notifications []processor.Notification
	go func() {
		for batch := l.Next(); batch != nil; batch = l.Next() {
			notifications = append(notifications, batch...)
		}
	}()
	return func() []processor.Notification {
		synctest.Wait()
		return notifications
	}
}

// The end of the initial list is a notification without an object. It has its place in the order,
// too. One listener reads while the notifications come, the others read afterwards.
func everyListenerGetsEverythingInOrder(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		const events = 3*chunkSize + 1
		var listeners []processor.Listener
		for range 3 {
			l := fanout.Listen(nil)
			defer l.Close()
			listeners = append(listeners, l)
		}
		eager := fanout.Listen(nil)
		defer eager.Close()
		all := startReading(eager)
		end := processor.Notification{Kind: processor.Synced}
		fanout.Distribute(end)
		want := []string{Text(end)}
		for v := range events {
			n := Updated("a", v, v+1)
			fanout.Distribute(n)
			want = append(want, Text(n))
		}
		WantTexts(t, Texts(all()), want)
		for i, l := range listeners {
			if waiting := l.Waiting(); waiting != events {
				t.Errorf("listener %d: Waiting() = %d, want %d", i, waiting, events)
			}
			WantTexts(t, Texts(startReading(l)()), want)
			if waiting := l.Waiting(); waiting != 0 {
				t.Errorf("listener %d: Waiting() = %d after all were read, want 0", i, waiting)
			}
		}
	})
}

// WantTexts compares long lists. It shows the first difference, and not both lists.
func WantTexts(t *testing.T, got, want []string) {
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
func TheEndOfTheInitialListIsNotCounted(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		l := fanout.Listen(nil)
		defer l.Close()
		fanout.Distribute(Added("a", 1))
		fanout.Distribute(processor.Notification{Kind: processor.Synced})
		for v := range 2 * chunkSize {
			if waiting := l.Waiting(); waiting > v+1 {
				t.Fatalf("Waiting() = %d after %d notifications, want at most %d", waiting, v+1, v+1)
			}
			fanout.Distribute(Updated("a", v+1, v+2))
		}
		for left, marks := l.Waiting(), 0; left > 0 || marks == 0; {
			for _, n := range l.Next() {
				if n.Kind == processor.Synced {
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

func aListenerGetsNothingOfThePast(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		fanout.Distribute(Added("past", 1)) // reaches nobody
		l := fanout.Listen(nil)
		defer l.Close()
		fanout.Distribute(Updated("a", 1, 3))
		if got, want := Texts(Read(l, 1)), []string{"update a 1 to 3"}; !slices.Equal(got, want) {
			t.Errorf("the listener got %q, want %q", got, want)
		}
	})
}

func nextWaits(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		l := fanout.Listen(nil)
		defer l.Close()
		got := make(chan []processor.Notification, 1)
		go func() { got <- l.Next() }()
		for _, when := range []string{"before anything was distributed", "after another listener came and went"} {
			synctest.Wait()
			select {
			case batch := <-got:
				t.Fatalf("Next() = %q %s, want that it waits", Texts(batch), when)
			default:
			}
			fanout.Listen(nil).Close()
		}
		fanout.Distribute(Added("a", 1))
		if batch, want := Texts(<-got), []string{"add a 1"}; !slices.Equal(batch, want) {
			t.Errorf("Next() = %q, want %q", batch, want)
		}
	})
}

func closeEndsNextAndDropsWhatWaits(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		waiting, full := fanout.Listen(nil), fanout.Listen(nil)
		fanout.Distribute(Added("a", 1))
		Read(waiting, 1)
		ended := make(chan []processor.Notification)
		go func() { ended <- waiting.Next() }()
		synctest.Wait()
		waiting.Close()
		if batch := <-ended; batch != nil {
			t.Errorf("Next() = %q after Close, want nil", Texts(batch))
		}
		full.Close()
		full.Close() // does no harm
		fanout.Distribute(Added("b", 2))
		if batch := full.Next(); batch != nil {
			t.Errorf("Next() = %q after Close with a backlog, want nil", Texts(batch))
		}
		if waiting := full.Waiting(); waiting != 0 {
			t.Errorf("Waiting() = %d after Close with a backlog, want 0", waiting)
		}
	})
}

// Listeners come, read and go while two goroutines distribute. None of them waits for another. Each
// listener gets the pod that is added after it has come, and misses no update in between.
func listenersComeAndGo(t *testing.T, newFanout func() processor.Fanout) {
	inFakeTime(t, newFanout, func(t *testing.T, fanout processor.Fanout) {
		var sending, reading sync.WaitGroup
		for s := range 2 {
			sending.Go(func() {
				for v := range 2000 {
					fanout.Distribute(Updated(fmt.Sprint("sender ", s), v, v+1))
				}
			})
		}
		for r := range 20 {
			reading.Go(func() {
				for round := range 50 {
					l := fanout.Listen(nil)
					own := fmt.Sprintf("pod %d of reader %d", round, r)
					fanout.Distribute(Added(own, 1))
					checkWithoutGaps(t, readUntil(l, own))
					l.Close()
				}
			})
		}
		sending.Wait()
		reading.Wait()
	})
}

// readUntil takes notifications out of a listener, up to those that come together with that of a key.
func readUntil(l processor.Listener, key string) (notifications []processor.Notification) {
	for {
		batch := l.Next()
		notifications = append(notifications, batch...)
		if batch == nil || slices.ContainsFunc(batch, func(n processor.Notification) bool { return n.Key == key }) {
			return notifications
		}
	}
}

// checkWithoutGaps checks that each update begins with the version with which the one before ended.
func checkWithoutGaps(t *testing.T, notifications []processor.Notification) {
	last := map[string]string{} // the version of each key
	for _, n := range notifications {
		if before, ok := last[n.Key]; ok && n.Kind == processor.Updated && Version(n.Old) != before {
			t.Errorf("%q came after version %s of it", Text(n), before)
		}
		last[n.Key] = Version(n.New)
	}
}
