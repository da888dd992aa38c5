package deltafifo_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A brokenLister names a key that it cannot give: with or without an error.
type brokenLister struct{ err error }

func (b brokenLister) ListKeys() []string                 { return []string{"lost"} }
func (b brokenLister) GetByKey(string) (any, bool, error) { return nil, false, b.err }

func popped(t *testing.T, q *deltafifo.Queue) (got cache.Deltas) {
	t.Helper()
	must.Do(t, q.Pop(func(d cache.Deltas) error { got = d; return nil }))
	return got
}

func TestOfTwoDeletesInARowTheBetterOneIsKept(t *testing.T) {
	guess := cache.DeletedFinalStateUnknown{Key: "a", Obj: item{"a", 1}}
	for _, test := range []struct {
		name          string
		first, second any
		kept          any
	}{
		{"true, then true", item{"a", 1}, item{"a", 2}, item{"a", 1}},
		{"true, then guess", item{"a", 1}, guess, item{"a", 1}},
		{"guess, then true", guess, item{"a", 2}, item{"a", 2}},
	} {
		t.Run(test.name, func(t *testing.T) {
			q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
			must.Do(t, errors.Join(q.Add(item{"a", 0}), q.Delete(test.first), q.Delete(test.second)))
			want := cache.Deltas{{Type: cache.Added, Object: item{"a", 0}}, {Type: cache.Deleted, Object: test.kept}}
			got := popped(t, q)
			expect.That(t, slices.Equal(got, want), "got %v, want %v", got, want)
		})
	}
}

func TestAKnownObjectThatCannotBeReadLeavesATombstoneWithoutObject(t *testing.T) {
	for _, err := range []error{nil, errors.New("disk on fire")} {
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: brokenLister{err}})
		must.Do(t, q.Replace(nil, ""))
		want := cache.Deltas{{Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "lost"}}}
		got := popped(t, q)
		expect.That(t, slices.Equal(got, want), "lister error %v: got %v, want %v", err, got, want)
		if err := q.Resync(); err != nil || len(q.List()) != 0 {
			t.Errorf("lister error %v: Resync() = %v and queued %v, want nothing", err, err, q.List())
		}
	}
}

func TestDeleteIsKeptWhenLookingForTheObjectFails(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: brokenLister{errors.New("disk on fire")}})
	if err := q.Delete(item{"a", 1}); err != nil || len(q.List()) != 1 {
		t.Errorf("a Delete while the known objects cannot be read: error %v, queued %v, want it queued", err, q.List())
	}
}

func TestATombstoneHasItsKey(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	for _, obj := range []any{item{"a", 1}, nil} { // a tombstone may be empty
		key, err := q.KeyOf(cache.DeletedFinalStateUnknown{Key: "a", Obj: obj})
		expect.That(t, key == "a" && err == nil, "KeyOf() = %q, %v, want the key of the tombstone", key, err)
	}
}

func TestAnObjectWithoutAKeyIsRefused(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{}) // the default key function wants Kubernetes objects
	for name, err := range map[string]error{
		"Add":     q.Add(item{"a", 1}),
		"Update":  q.Update(item{"a", 1}),
		"Delete":  q.Delete(item{"a", 1}),
		"Replace": q.Replace([]any{item{"a", 1}}, ""),
	} {
		if keyErr := (cache.KeyError{}); !errors.As(err, &keyErr) || keyErr.Obj != (item{"a", 1}) {
			t.Errorf("%s: got %v, want a KeyError with the object", name, err)
		}
	}
	expect.That(t, len(q.List()) == 0, "queued %v, want nothing", q.List())
}

func TestPopReturnsTheErrorAndDoesNotPutBack(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	must.Do(t, q.Add(item{"a", 1}))
	refused := errors.New("refused")
	err := q.Pop(func(cache.Deltas) error { return refused })
	expect.That(t, err == refused, "Pop() = %v, want %v", err, refused)
	expect.That(t, len(q.List()) == 0, "still queued: %v", q.List())
}

func TestPopWaitsForAnItemOrForClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
		results := make(chan error)
		pop := func() { results <- q.Pop(func(cache.Deltas) error { return nil }) }

		go pop()
		go pop()
		synctest.Wait() // both are waiting now
		select {
		case err := <-results:
			t.Fatalf("Pop() on an empty queue returned %v", err)
		default:
		}
		must.Do(t, q.Add(item{"a", 1}))
		err := <-results
		expect.That(t, err == nil, "Pop() = %v after Add, want nil", err)

		go pop()
		synctest.Wait() // two are waiting again
		q.Close()
		for range 2 {
			err = <-results
			expect.That(t, err == cache.ErrFIFOClosed, "Pop() = %v after Close, want ErrFIFOClosed", err)
		}
	})
}

// A watchedLister says when it is read.
type watchedLister func()

func (read watchedLister) ListKeys() []string            { read(); return nil }
func (watchedLister) GetByKey(string) (any, bool, error) { return nil, false, nil }

func TestTheLockIsHeldWhileKnownObjectsAreReadAndChanged(t *testing.T) {
	var q *deltafifo.Queue
	wantLocked := func(when string) {
		expect.That(t, q.Locked(), "%s: nobody holds the lock", when)
	}
	q = deltafifo.New(deltafifo.Options{KeyFunction: itemKey, KnownObjects: watchedLister(func() {
		wantLocked("when Replace reads the known objects")
	})})
	must.Do(t, q.Replace([]any{item{"a", 1}}, ""))
	must.Do(t, q.Pop(func(cache.Deltas) error { wantLocked("when Pop calls process"); return nil }))
}

func TestCloseLeavesWhatWaits(t *testing.T) {
	q := deltafifo.New(deltafifo.Options{KeyFunction: itemKey})
	q.Close()
	must.Do(t, q.Add(item{"a", 1}))
	got := popped(t, q)
	expect.That(t, len(got) == 1, "popped %v, want one delta", got)
	err := q.Pop(func(cache.Deltas) error { return nil })
	expect.That(t, err == cache.ErrFIFOClosed, "Pop() = %v on a closed and empty queue, want ErrFIFOClosed", err)
}
