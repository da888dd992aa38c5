package journal

import (
	"fmt"
	"math"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/06-processor/processor/fanouttest"
	"example.com/informer/scripts/harness/must"
)

// round updates each object from version v to the next.
func round(fanout processor.Fanout, objects, v int) {
	for o := range objects {
		fanout.Distribute(updated(fmt.Sprint("pod ", o), v, v+1))
	}
}

func TestAListenerFarBehindIsFolded(t *testing.T) {
	const objects, rounds = 100, 1000
	fanout := New()
	saved := 0
	fanout.SetObserver(observer.Func(func(event any) {
		if e, ok := event.(Folded); ok {
			saved += e.Saved
		}
	}))
	stuck, prompt := fanout.Listen(nil), fanout.Listen(nil)
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
		if limit, waiting := 2*objects+16_384+chunkSize, stuck.Waiting(); waiting > limit {
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

// A listener waits. Before it runs again, so much comes that it is folded: what is in its backlog now
// is older than what is unread.
func TestAListenerIsFoldedWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := New()
		fanout.SetPatience(1)
		l := fanout.Listen(nil)
		var got [][]string
		go func() {
			for batch := l.Next(); batch != nil; batch = l.Next() {
				got = append(got, texts(batch))
			}
		}()
		synctest.Wait()
		fanout.mu.Lock() // l runs again when it has the lock
		for v := range chunkSize/2 + 1 {
			fanout.append(updated("a", v, v+1))
			fanout.append(updated("b", v, v+1))
		}
		fanout.mu.Unlock()
		fanout.grown.Broadcast()
		synctest.Wait()
		want := [][]string{
			{"update a 0 to 128"},
			{"update b 0 to 128"},
			{"update a 128 to 129", "update b 128 to 129"},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the results of Next() differ, want the backlog, one object at a time, and then what is unread "+
				"(-want +got):\n%s", diff)
		}
		l.Close()
	})
}

// A listener was far behind, and reads its backlog. Until it has read all of it, what comes is
// folded.
func TestAListenerIsFoldedUntilItsBacklogIsEmpty(t *testing.T) {
	const objects = 10
	const limit = objects + chunkSize
	fanout := New()
	l := fanout.Listen(nil)
	defer l.Close()
	for o := range objects {
		fanout.Distribute(added(fmt.Sprint("pod ", o), 0))
	}
	v := 0
	for range 2 * defaultPatience / objects {
		round(fanout, objects, v)
		v++
	}
	for read := range objects {
		if waiting := l.Waiting(); waiting > limit {
			t.Fatalf("Waiting() = %d when %d objects of the backlog were read, want at most %d: one for each "+
				"object, and a chunk", waiting, read, limit)
		}
		l.Next()
		for range 4 * chunkSize / objects {
			round(fanout, objects, v)
			v++
		}
	}
}

// One listener is folded. Another one has read everything, and more come and go: they drop a tail
// that all have read. The folded one has not.
func TestNothingIsDroppedThatAFoldedListenerHasNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const last = 4 * chunkSize
		fanout := newImpatient()
		folded, prompt := fanout.Listen(nil), fanout.Listen(nil)
		defer folded.Close()
		defer prompt.Close()
		go func() {
			for prompt.Next() != nil {
			}
		}()
		fanout.Distribute(added("a", 0))
		for v := range last {
			fanout.Distribute(updated("a", v, v+1))
			synctest.Wait() // prompt waits for more
			fanout.Listen(nil).Close()
		}
		delivered := 0
		for folded.Waiting() > 0 {
			for _, n := range folded.Next() {
				if n.Kind == processor.Updated && number(n.Old) != delivered {
					t.Fatalf("the folded listener got %q after version %d", text(n), delivered)
				}
				delivered = number(n.New)
			}
		}
		if delivered != last {
			t.Errorf("the folded listener got version %d last, want %d", delivered, last)
		}
	})
}

// The observer panics when a chunk begins, and the caller of Distribute recovers: the new tail is
// empty. One listener has read everything, and moves on to it. Another one has read nothing, and more
// come and go: what it has not read stays.
func TestNothingIsDroppedAfterAPanicOfTheObserver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := New()
		unread, prompt := fanout.Listen(nil), fanout.Listen(nil)
		defer unread.Close()
		defer prompt.Close()
		var want []string
		for v := range chunkSize {
			n := updated("a", v, v+1)
			fanout.Distribute(n)
			want = append(want, text(n))
		}
		read(prompt, chunkSize)
		armed := false
		fanout.SetObserver(observer.Func(func(any) {
			if armed {
				panic("no")
			}
		}))
		armed = true
		func() {
			defer func() { _ = recover() }()
			fanout.Distribute(updated("a", chunkSize, chunkSize+1))
		}()
		armed = false
		go prompt.Next()
		synctest.Wait()
		fanout.Listen(nil).Close()
		if waiting := unread.Waiting(); waiting != chunkSize {
			t.Fatalf("Waiting() = %d for the listener that has read nothing, want %d", waiting, chunkSize)
		}
		fanouttest.WantTexts(t, texts(read(unread, chunkSize)), want)
	})
}

// A listener was far behind, and has caught up. From then on it gets every change again.
func TestAListenerThatHasCaughtUpIsNotFolded(t *testing.T) {
	fanout := New()
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
	fanouttest.WantTexts(t, texts(read(l, len(want))), want)
}

// A listener was far behind, and all that it has missed has come and gone: nothing is in its
// backlog. It gets every change again, too.
func TestAListenerWithoutABacklogIsNotFolded(t *testing.T) {
	fanout := New()
	fanout.SetPatience(1)
	l := fanout.Listen(nil)
	defer l.Close()
	for range chunkSize / 2 {
		fanout.Distribute(added("b", 0))
		fanout.Distribute(deleted("b", 0, 1))
	}
	fanout.Distribute(added("a", 0)) // begins a chunk
	if waiting := l.Waiting(); waiting != 1 {
		t.Fatalf("Waiting() = %d, want 1: the rest is folded to nothing", waiting)
	}
	l.Next()
	fanout.SetPatience(math.MaxInt)
	var want []string
	for v := range 2 * chunkSize {
		n := updated("a", v, v+1)
		fanout.Distribute(n)
		want = append(want, text(n))
	}
	if waiting := l.Waiting(); waiting != len(want) {
		t.Fatalf("Waiting() = %d, want %d: nothing is folded any more", waiting, len(want))
	}
	fanouttest.WantTexts(t, texts(read(l, len(want))), want)
}

// Three things keep the journal cheap: a chunk never grows, Next returns slices without spare room,
// and a tail with few items is kept.
func TestChunks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := New()
		l := fanout.Listen(nil)
		fanout.Listen(nil).Close() // drops the tail: the next one has the smallest size
		tail, size := fanout.tail, cap(fanout.tail.items)
		for v := range 2*chunkSize - smallSize + 1 { // fills a chunk of each size, and begins one more
			fanout.Distribute(updated("a", v, v+1))
			if fanout.tail != tail {
				tail, size = fanout.tail, min(2*size, chunkSize)
			}
			if got := cap(tail.items); got != size {
				t.Fatalf("the capacity of a chunk with %d items is %d, want %d: a chunk does not grow",
					len(tail.items), got, size)
			}
			if batch := l.Next(); cap(batch) > len(batch) {
				t.Fatalf("Next() returned a slice of length %d and capacity %d, want no spare room",
					len(batch), cap(batch))
			}
		}
		fanout.Distribute(notification{Kind: processor.Synced})
		l.Next()
		if waiting := l.Waiting(); waiting != 0 {
			t.Errorf("Waiting() = %d after the end of the initial list was read, want 0", waiting)
		}
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
		fanout := New()
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
	synctest.Test(t, func(t *testing.T) {
		fanout := New()
		p := processor.New(fanout)
		p.Start()
		defer p.Stop()
		busy := make(chan struct{})
		defer close(busy)
		_, err := p.Add(cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }}, processor.Options{})
		must.NoError(t, err)
		p.Distribute(added("a", 1))
		synctest.Wait()
		p.ShouldResync(time.Now()) // the handler is not due
		for range defaultPatience + 20*chunkSize {
			p.Resync(updated("a", 1, 1))
		}
		for l := range fanout.cursors { // there is one
			if waiting := l.Waiting(); waiting > chunkSize {
				t.Errorf("Waiting() = %d, want at most %d: a chunk", waiting, chunkSize)
			}
		}
	})
}

// One notification wakes all listeners that wait.
func TestEverySleeperIsWoken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fanout := New()
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
