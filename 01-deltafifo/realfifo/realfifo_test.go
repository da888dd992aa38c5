package realfifo_test

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"weak"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/realfifo"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// pop pops one delta. The queue must have one, or be closed.
func pop(q *realfifo.Queue) (popped cache.Delta, isInInitialList bool, err error) {
	err = q.Pop(func(deltas cache.Deltas, initial bool) error {
		if len(deltas) != 1 {
			return fmt.Errorf("popped %d deltas at once, want one", len(deltas))
		}
		popped, isInInitialList = deltas[0], initial
		return nil
	})
	return popped, isInInitialList, err
}

func TestEachCallIsOneDeltaInTheOrderOfArrival(t *testing.T) {
	q := realfifo.New()
	tombstone := cache.DeletedFinalStateUnknown{Key: "b", Obj: "b1"}
	for _, call := range []error{
		q.Replace([]any{"a1", "b1", "a2"}, "2"),
		q.Add("c1"),
		q.Update("a3"),
		q.Delete("c1"),
		q.Delete("c1"),
		q.Delete(tombstone),
		q.Resync(),
		q.Bookmark("7"),
		q.Replace(nil, "8"),
	} {
		must.NoError(t, call)
	}
	q.Close()
	want := []cache.Delta{
		{Type: cache.ReplacedAll,
			Object: cache.ReplacedAllInfo{ResourceVersion: "2", Objects: []any{"a1", "b1", "a2"}}},
		{Type: cache.Added, Object: "c1"},
		{Type: cache.Updated, Object: "a3"},
		{Type: cache.Deleted, Object: "c1"},
		{Type: cache.Deleted, Object: "c1"},
		{Type: cache.Deleted, Object: tombstone},
		{Type: cache.SyncAll, Object: cache.SyncAllInfo{}},
		{Type: cache.Bookmark, Object: cache.BookmarkInfo{ResourceVersion: "7"}},
		{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: "8"}},
	}
	for _, want := range want {
		got, _, err := pop(q)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("popped %v and the error %v, want %v", got, err, want)
		}
	}
	if got, _, err := pop(q); !errors.Is(err, cache.ErrFIFOClosed) {
		t.Errorf("popped %v and the error %v at the end, want the error ErrFIFOClosed", got, err)
	}
}

func TestHasSyncedWhenTheFirstListIsPopped(t *testing.T) {
	q := realfifo.New()
	// Neither a resync nor a bookmark takes the place of a list. A change after the list does not make
	// it synced, and nor does a second list.
	for _, call := range []error{
		q.Resync(), q.Bookmark("1"), q.Replace([]any{"a"}, "2"), q.Add("b"), q.Replace(nil, "3"),
	} {
		must.NoError(t, call)
	}
	for i, want := range []bool{true, true, true, false, false} {
		var synced, initial bool
		must.NoError(t, q.Pop(func(_ cache.Deltas, isInInitialList bool) error {
			synced, initial = q.HasSynced(), isInInitialList
			return nil
		}))
		if synced == want || initial != want {
			t.Errorf("pop %d: in process, HasSynced() = %t and isInInitialList = %t, want %t and %t",
				i, synced, initial, !want, want)
		}
	}
	if !cache.IsDone(q) {
		t.Error("IsDone = false after the list was popped, want true")
	}
}

func TestWhatSyncsWithoutAPop(t *testing.T) {
	for _, test := range []struct {
		name string
		call func(*realfifo.Queue) error
		want bool
	}{
		{"Add", func(q *realfifo.Queue) error { return q.Add("a") }, true},
		{"Update", func(q *realfifo.Queue) error { return q.Update("a") }, true},
		{"Delete", func(q *realfifo.Queue) error { return q.Delete("a") }, true},
		{"an empty list", func(q *realfifo.Queue) error { return q.Replace(nil, "1") }, false},
		{"Resync", (*realfifo.Queue).Resync, false},
		{"Bookmark", func(q *realfifo.Queue) error { return q.Bookmark("1") }, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := realfifo.New()
			if q.HasSynced() {
				t.Error("HasSynced() = true of a new queue, want false")
			}
			must.NoError(t, test.call(q))
			if got := q.HasSynced(); got != test.want {
				t.Errorf("HasSynced() = %t, want %t", got, test.want)
			}
		})
	}
}

// A list that the consumer refuses is not put back, and nobody waits for it.
func TestPopReturnsTheErrorOfProcess(t *testing.T) {
	q := realfifo.New()
	must.NoError(t, q.Replace([]any{"a"}, "1"))
	refused := errors.New("refused")
	if err := q.Pop(func(cache.Deltas, bool) error { return refused }); !errors.Is(err, refused) {
		t.Errorf("Pop() = %v, want the error of process", err)
	}
	if !q.HasSynced() {
		t.Error("HasSynced() = false after the list was popped, want true")
	}
	q.Close()
	if got, _, err := pop(q); !errors.Is(err, cache.ErrFIFOClosed) {
		t.Errorf("popped %v and the error %v, want the error ErrFIFOClosed", got, err)
	}
}

// Pop does not hold the lock while process runs.
func TestProcessMayCallTheQueue(t *testing.T) {
	q := realfifo.New()
	must.NoError(t, q.Add("a"))
	must.NoError(t, q.Pop(func(cache.Deltas, bool) error {
		if q.Locked() {
			t.Fatal("Locked() = true in process, want false: its calls would wait forever")
		}
		return errors.Join(q.Add("b"), q.Update("b"), q.Delete("b"), q.Replace(nil, ""), q.Resync(), q.Bookmark(""))
	}))
	q.Close()
	for range 6 {
		_, _, err := pop(q)
		must.NoError(t, err)
	}
}

// What is queued wakes a Pop that waits, and so does Close.
func TestPopWaitsForADeltaOrForTheEnd(t *testing.T) {
	for name, wake := range map[string]func(*realfifo.Queue) error{
		"Add":      func(q *realfifo.Queue) error { return q.Add("a") },
		"Replace":  func(q *realfifo.Queue) error { return q.Replace(nil, "") },
		"Resync":   (*realfifo.Queue).Resync,
		"Bookmark": func(q *realfifo.Queue) error { return q.Bookmark("") },
		"Close": func(q *realfifo.Queue) error {
			q.Close()
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := realfifo.New()
				returned := make(chan error, 1)
				go func() {
					_, _, err := pop(q)
					returned <- err
				}()
				synctest.Wait() // Pop waits
				if len(returned) != 0 {
					t.Fatal("Pop has returned from an empty queue, want it to wait")
				}
				must.NoError(t, wake(q))
				synctest.Wait()
				if len(returned) != 1 {
					t.Fatal("Pop still waits, want it to return")
				}
				if err, closed := <-returned, name == "Close"; closed != errors.Is(err, cache.ErrFIFOClosed) {
					t.Errorf("Pop() = %v", err)
				}
			})
		})
	}
}

// What waits, and what comes after Close, can still be popped.
func TestAClosedQueueIsPoppedToItsEnd(t *testing.T) {
	q := realfifo.New()
	must.NoError(t, q.Add("before"))
	q.Close()
	q.Close() // again
	must.NoError(t, q.Add("after"))
	for _, want := range []string{"before", "after"} {
		got, _, err := pop(q)
		if err != nil || got.Object != want {
			t.Errorf("popped %v and the error %v, want %s", got, err, want)
		}
	}
	if got, _, err := pop(q); !errors.Is(err, cache.ErrFIFOClosed) {
		t.Errorf("popped %v and the error %v, want the error ErrFIFOClosed", got, err)
	}
}

// The queue is a slice that gets shorter at its front. The array behind it is as long as before.
func TestThePoppedObjectIsNotKeptInMemory(t *testing.T) {
	q := realfifo.New()
	popped := new([1 << 16]byte)
	watch := weak.Make(popped)
	must.NoError(t, q.Add(popped))
	must.NoError(t, q.Add("the next one"))
	popped = nil
	_, _, err := pop(q)
	must.NoError(t, err)
	runtime.GC()
	if watch.Value() != nil {
		t.Error("the popped object is still in memory while the next one waits, want it to be collected")
	}
	runtime.KeepAlive(q)
}

// Several producers and a consumer work at the same time. What a producer queues arrives in its
// order, and all of it arrives.
func TestNothingIsLostBetweenManyProducers(t *testing.T) {
	type number struct{ producer, n int }
	const producers, each = 8, 1000
	q := realfifo.New()
	var running sync.WaitGroup
	for producer := range producers {
		running.Go(func() {
			for n := range each {
				if err := q.Add(number{producer, n}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	go func() {
		running.Wait()
		q.Close()
	}()
	var next [producers]int // the number that each producer sends next
	for {
		popped, _, err := pop(q)
		if errors.Is(err, cache.ErrFIFOClosed) {
			break
		}
		must.NoError(t, err)
		got := popped.Object.(number)
		if got.n != next[got.producer] {
			t.Fatalf("of producer %d, popped %d, want %d", got.producer, got.n, next[got.producer])
		}
		next[got.producer]++
	}
	for producer, n := range next {
		if n != each {
			t.Errorf("of producer %d, popped %d deltas, want %d", producer, n, each)
		}
	}
}
