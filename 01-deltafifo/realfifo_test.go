// Claims of the book about client-go's RealFIFO, the queue of its informers, tested on the pinned
// version.

package main

import (
	"bytes"
	"runtime"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

func TestRealFIFOPassesTheDeleteOnEitherWay(t *testing.T) {
	queue := newRealFIFO(knownPods{})
	must.NoError(t, queue.Delete(pod1))
	wantPops(t, queue, deltaTypes{cache.Deleted})
}

func TestRealFIFOKeepsTwoDeletesInARow(t *testing.T) {
	queue := newRealFIFO(knownPods{})
	must.NoError(t, queue.Delete(pod1))
	must.NoError(t, queue.Delete(pod1))
	wantPops(t, queue, deltaTypes{cache.Deleted}, deltaTypes{cache.Deleted})
}

func TestRealFIFOWantsKnownObjectsUnlessItsEventsAreAtomic(t *testing.T) {
	panics := func(opts cache.RealFIFOOptions) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		cache.NewRealFIFOWithOptions(opts)
		return false
	}
	for _, test := range []struct {
		name string
		opts cache.RealFIFOOptions
		want bool
	}{
		{"neither", cache.RealFIFOOptions{}, true},
		{"AtomicEvents", cache.RealFIFOOptions{AtomicEvents: true}, false},
		{"KnownObjects", cache.RealFIFOOptions{KnownObjects: knownPods{}}, false},
		{"both", cache.RealFIFOOptions{AtomicEvents: true, KnownObjects: knownPods{}}, true},
	} {
		if got := panics(test.opts); got != test.want {
			t.Errorf("%s: NewRealFIFOWithOptions panics: %t, want %t", test.name, got, test.want)
		}
	}
}

// Client-go's informers set AtomicEvents. Then a list is one delta, and a resync is one delta,
// whatever the number of objects.
func TestAtomicRealFIFOTakesAListInOneDelta(t *testing.T) {
	queue := newAtomicRealFIFO()
	must.NoError(t, queue.Replace([]any{pod1, pod2, pod3}, "1"))
	must.NoError(t, queue.Resync())
	wantPops(t, queue, deltaTypes{cache.ReplacedAll}, deltaTypes{cache.SyncAll})
}

// With AtomicEvents, the queue has synced when the list is popped, even an empty list.
func TestAtomicRealFIFOHasSyncedWhenItsListIsPopped(t *testing.T) {
	for _, list := range [][]any{nil, {pod1, pod2, pod3}} {
		queue := newAtomicRealFIFO()
		must.NoError(t, queue.Replace(list, "1"))
		if queue.HasSynced() {
			t.Errorf("a list of %d pods: HasSynced() = true before the pop, want false", len(list))
		}
		popOne(t, queue)
		if !queue.HasSynced() {
			t.Errorf("a list of %d pods: HasSynced() = false after the pop, want true", len(list))
		}
	}
}

// newInformersRealFIFO returns a RealFIFO with the options of client-go's informers.
func newInformersRealFIFO() *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction:           podKey,
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
	})
}

// The queue of client-go's informers is not locked while Pop processes an item.
func TestTheRealFIFOOfInformersMayBeCalledFromInsidePop(t *testing.T) {
	queue := newInformersRealFIFO()
	must.NoError(t, queue.Add(pod1))
	_, err := queue.Pop(func(any, bool) error { return queue.Add(pod2) })
	must.NoError(t, err)
	wantPops(t, queue, deltaTypes{cache.Added})
}

// The same queue stays locked in Pop while two full batches wait in it. Then Add has to wait. A
// DeltaFIFO always stays locked in Pop.
func TestALongRealFIFOStaysLockedInPop(t *testing.T) {
	for _, test := range []struct {
		name       string
		queue      cache.Queue
		waiting    int // deltas besides the one that is popped
		wantLocked bool
	}{
		{"RealFIFO, 1999 wait", newInformersRealFIFO(), 1999, false},
		{"RealFIFO, 2000 wait", newInformersRealFIFO(), 2000, true},
		{"DeltaFIFO, none waits", newDeltaFIFO(), 0, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			for range test.waiting + 1 {
				must.NoError(t, test.queue.Add(pod1))
			}
			added := make(chan error, 1)
			_, err := test.queue.Pop(func(any, bool) error {
				go func() { added <- test.queue.Add(pod2) }()
				if !test.wantLocked {
					must.Until(t, "Add has returned", func() bool { return len(added) == 1 })
					return nil
				}
				must.Until(t, "Add waits for the lock", aGoroutineWaitsForAMutex)
				if len(added) > 0 {
					t.Error("Add returned while Pop runs, want it to wait")
				}
				return nil
			})
			must.NoError(t, err)
			must.NoError(t, <-added)
		})
	}
}

// aGoroutineWaitsForAMutex reports whether any goroutine of this program waits in Mutex.Lock.
func aGoroutineWaitsForAMutex() bool {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	return bytes.Contains(stacks, []byte("[sync.Mutex.Lock"))
}
