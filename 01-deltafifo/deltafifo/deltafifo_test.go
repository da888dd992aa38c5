package deltafifo_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A brokenLister lists a key, and has no object for this key. What GetByKey returns beside err is
// not to be used.
type brokenLister struct{ err error }

func (b brokenLister) ListKeys() []string { return []string{"lost"} }

func (b brokenLister) GetByKey(string) (any, bool, error) { return item{"lost", 13}, false, b.err }

// pop pops the deltas of one key. It ends the test if nothing waits in the queue.
func pop(t *testing.T, q *deltafifo.Queue) (popped cache.Deltas) {
	t.Helper()
	if len(q.List()) == 0 {
		t.Fatal("the queue is empty, want deltas that wait")
	}
	err := q.Pop(func(deltas cache.Deltas, _ bool) error {
		popped = deltas
		return nil
	})
	must.NoError(t, err)
	return popped
}

// wantEmpty checks that nothing waits in the queue.
func wantEmpty(t *testing.T, q *deltafifo.Queue) {
	t.Helper()
	if waiting := q.List(); len(waiting) != 0 {
		t.Errorf("List() = %v, want an empty queue", waiting)
	}
}

func TestOfTwoDeletesInARowTheBetterOneIsKept(t *testing.T) {
	tombstone := cache.DeletedFinalStateUnknown{Key: "a", Obj: item{"a", 1}}
	for _, test := range []struct {
		name          string
		first, second any // the objects of the two deletes
		want          any // the object of the delete that is kept
	}{
		{"final state, then final state", item{"a", 1}, item{"a", 2}, item{"a", 1}},
		{"final state, then tombstone", item{"a", 1}, tombstone, item{"a", 1}},
		{"tombstone, then final state", tombstone, item{"a", 2}, item{"a", 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
			must.NoError(t, q.Add(item{"a", 0}))
			must.NoError(t, q.Delete(test.first))
			must.NoError(t, q.Delete(test.second))
			got := pop(t, q)
			want := cache.Deltas{
				{Type: cache.Added, Object: item{"a", 0}},
				{Type: cache.Deleted, Object: test.want},
			}
			if !slices.Equal(got, want) {
				t.Errorf("popped %v, want %v", got, want)
			}
		})
	}
}

func TestAKnownObjectThatCannotBeReadLeavesATombstoneWithoutObject(t *testing.T) {
	for name, listerErr := range map[string]error{
		"GetByKey finds nothing":    nil,
		"GetByKey returns an error": errors.New("disk on fire"),
	} {
		t.Run(name, func(t *testing.T) {
			q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: brokenLister{listerErr}})
			must.NoError(t, q.Replace(nil, ""))
			got := pop(t, q)
			want := cache.Deltas{{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "lost"}}}
			if !slices.Equal(got, want) {
				t.Errorf("popped %v, want %v", got, want)
			}
			if err := q.Resync(); err != nil {
				t.Errorf("Resync() = %v, want nil", err)
			}
			wantEmpty(t, q)
		})
	}
}

func TestDeleteIsKeptWhenLookingForTheObjectFails(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: brokenLister{errors.New("disk on fire")}})
	if err := q.Delete(item{"a", 1}); err != nil {
		t.Errorf("Delete() = %v, want nil", err)
	}
	if waiting := q.List(); !slices.Equal(waiting, []any{item{"a", 1}}) {
		t.Errorf("queued %v while the known objects cannot be read, want the Delete of %v", waiting, item{"a", 1})
	}
}

func TestATombstoneHasItsKey(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	for _, obj := range []any{item{"a", 1}, nil, "no item"} { // a tombstone may be empty, or hold anything
		tombstone := cache.DeletedFinalStateUnknown{Key: "a", Obj: obj}
		key, err := q.KeyOf(tombstone)
		if key != "a" || err != nil {
			t.Errorf("KeyOf(%+v) = %q, %v; want %q, nil", tombstone, key, err, "a")
		}
	}
}

// Whatever a tombstone holds, it is a delete, and the consumer gets it as it came.
func TestTheDeleteOfATombstoneIsQueued(t *testing.T) {
	for _, obj := range []any{item{"a", 1}, nil, "no item"} {
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
		tombstone := cache.DeletedFinalStateUnknown{Key: "a", Obj: obj}
		must.NoError(t, q.Add(item{"a", 0}))
		must.NoError(t, q.Delete(tombstone))
		want := cache.Deltas{{Type: cache.Added, Object: item{"a", 0}}, {Type: cache.Deleted, Object: tombstone}}
		if got := pop(t, q); !slices.Equal(got, want) {
			t.Errorf("popped %v, want %v", got, want)
		}
	}
}

func TestAnObjectWithoutAKeyIsRefused(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{}) // the default key function accepts only Kubernetes objects
	for name, err := range map[string]error{
		"Add":     q.Add(item{"a", 1}),
		"Update":  q.Update(item{"a", 1}),
		"Delete":  q.Delete(item{"a", 1}),
		"Replace": q.Replace([]any{item{"a", 1}}, ""),
	} {
		var keyErr cache.KeyError
		if !errors.As(err, &keyErr) {
			t.Errorf("%s() = %v, want a KeyError", name, err)
			continue
		}
		if keyErr.Obj != (item{"a", 1}) {
			t.Errorf("%s() = a KeyError of %v, want of %v", name, keyErr.Obj, item{"a", 1})
		}
	}
	wantEmpty(t, q)
}

func TestPopReturnsTheErrorAndDoesNotPutBack(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	must.NoError(t, q.Replace([]any{item{"a", 1}}, ""))
	refused := errors.New("refused")
	err := q.Pop(func(cache.Deltas, bool) error { return refused })
	if err != refused {
		t.Errorf("Pop() = %v, want %v", err, refused)
	}
	wantEmpty(t, q)
	if !q.HasSynced() {
		t.Error("HasSynced() = false after process has returned an error for the only key of the first list, want true")
	}
}

func TestPopWaitsForAnItemOrForClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
		results := make(chan error)
		pop := func() { results <- q.Pop(func(cache.Deltas, bool) error { return nil }) }

		go pop()
		go pop()
		synctest.Wait() // both goroutines wait in Pop
		select {
		case err := <-results:
			t.Fatalf("Pop() on an empty queue returned %v, want it to wait", err)
		default:
		}
		must.NoError(t, q.Add(item{"a", 1}))
		if err := <-results; err != nil {
			t.Errorf("Pop() = %v after Add, want nil", err)
		}
		synctest.Wait() // Add has woken the other goroutine, too
		select {
		case err := <-results:
			t.Fatalf("the second Pop() returned %v after one Add, want it to wait again", err)
		default:
		}

		go pop()
		synctest.Wait() // two goroutines wait in Pop again
		q.Close()
		for range 2 {
			if err := <-results; err != cache.ErrFIFOClosed {
				t.Errorf("Pop() = %v after Close, want %v", err, cache.ErrFIFOClosed)
			}
		}
		if took := time.Since(begin); took != 0 { // a Pop that looks now and then is late
			t.Errorf("Pop() was woken %v after Add and Close, want 0s", took)
		}
	})
}

// An observedLister knows one object. It calls a function when the queue asks for keys or objects.
type observedLister func()

func (asked observedLister) ListKeys() []string {
	asked()
	return []string{"known"}
}

func (asked observedLister) GetByKey(key string) (any, bool, error) {
	asked()
	return item{key, 1}, key == "known", nil
}

// Pop takes an object out of the queue, and process makes it known. A method that asks the known
// objects before it has the lock, and looks into the queue afterwards, may find it in neither.
func TestTheLockIsHeldWhileKnownObjectsAreReadAndChanged(t *testing.T) {
	var q *deltafifo.Queue
	wantLocked := func(when string) {
		if !q.Locked() {
			t.Errorf("%s: Locked() = false, want true", when)
		}
	}
	var method string
	asked := func() { wantLocked("when " + method + " reads the known objects") }
	q = deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: observedLister(asked)})
	method = "Delete"
	must.NoError(t, q.Delete(item{"unknown", 1}))
	method = "Resync"
	must.NoError(t, q.Resync())
	method = "Replace"
	must.NoError(t, q.Replace([]any{item{"a", 1}}, ""))
	err := q.Pop(func(cache.Deltas, bool) error {
		wantLocked("when Pop calls process")
		return nil
	})
	must.NoError(t, err)
}

func TestCloseLeavesWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // which ends a Pop that would wait forever
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
		must.NoError(t, q.Add(item{"a", 1}))
		q.Close()
		must.NoError(t, q.Add(item{"b", 2}))
		for _, waiting := range []item{{"a", 1}, {"b", 2}} {
			got := pop(t, q)
			want := cache.Deltas{{Type: cache.Added, Object: waiting}}
			if !slices.Equal(got, want) {
				t.Errorf("popped %v, want %v", got, want)
			}
		}
		err := q.Pop(func(cache.Deltas, bool) error { return nil })
		if err != cache.ErrFIFOClosed {
			t.Errorf("Pop() = %v on a closed and empty queue, want %v", err, cache.ErrFIFOClosed)
		}
	})
}
