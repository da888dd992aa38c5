// What the page docs/01-deltafifo.md says about client-go, shown on the
// pinned version.

package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"reflect"
	"runtime"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

var pod1, pod2, pod3 = pod{"pod1", 1}, pod{"pod2", 2}, pod{"pod3", 3}

// wantPops closes the queue and wants these pops, each as the types of its deltas.
func wantPops(t *testing.T, queue cache.Queue, want string) {
	t.Helper()
	queue.Close()
	pops := [][]cache.DeltaType{}
	for {
		_, err := queue.Pop(func(obj any, _ bool) error {
			var types []cache.DeltaType
			for _, d := range obj.(cache.Deltas) {
				types = append(types, d.Type)
			}
			pops = append(pops, types)
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			break
		}
		must.Do(t, err)
	}
	got := fmt.Sprint(pops)
	expect.That(t, got == want, "%T: popped %s, want %s", queue, got, want)
}

func newDeltaFIFO() *cache.DeltaFIFO {
	return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey})
}

func newRealFIFO(known cache.KeyListerGetter) *cache.RealFIFO {
	return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, KnownObjects: known})
}

func TestDeltaFIFOHasNoListAnyMore(t *testing.T) {
	queue := reflect.TypeFor[*cache.DeltaFIFO]()
	for _, gone := range []string{"List", "ListKeys", "Get", "GetByKey", "AddIfNotPresent"} {
		_, ok := queue.MethodByName(gone)
		expect.That(t, !ok, "DeltaFIFO has the method %s again", gone)
	}
}

func TestOurQueueAndClientGosPrintTheSame(t *testing.T) {
	ours, err := os.ReadFile("testdata/deltas.txt")
	must.Do(t, err)
	theirs, err := os.ReadFile("testdata/clientgo.txt")
	must.Do(t, err)
	expect.That(t, string(ours) == string(theirs),
		"the step deltas prints\n%s\nthe step clientgo prints\n%s", ours, theirs)
}

func TestDeltaFIFOLosesTheDeleteOfWhatItDoesNotKnow(t *testing.T) {
	queue := newDeltaFIFO()
	must.Do(t, errors.Join(queue.Delete(pod1), queue.Resync()))
	wantPops(t, queue, "[]")
	queue = newDeltaFIFO()
	must.Do(t, errors.Join(queue.Add(pod1), queue.Add(pod2)))
	_, err := queue.Pop(func(any, bool) error { return nil })
	must.Do(t, errors.Join(err, queue.Replace(nil, "1")))
	wantPops(t, queue, "[[Added Deleted]]") // of pod2, which waits
}

func TestRealFIFOPassesTheDeleteOnEitherWay(t *testing.T) {
	queue := newRealFIFO(knownPods{})
	must.Do(t, queue.Delete(pod1))
	wantPops(t, queue, "[[Deleted]]")
}

func TestRealFIFOKeepsTwoDeletesInARow(t *testing.T) {
	queue := newRealFIFO(knownPods{})
	must.Do(t, errors.Join(queue.Delete(pod1), queue.Delete(pod1)))
	wantPops(t, queue, "[[Deleted] [Deleted]]")
}

func TestRealFIFOWantsKnownObjectsUnlessItsEventsAreAtomic(t *testing.T) {
	panics := func(opts cache.RealFIFOOptions) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		cache.NewRealFIFOWithOptions(opts)
		return false
	}
	expect.That(t, panics(cache.RealFIFOOptions{}), "a RealFIFO without known objects was made")
	expect.That(t, panics(cache.RealFIFOOptions{AtomicEvents: true, KnownObjects: knownPods{}}),
		"a RealFIFO with atomic events and known objects was made")
	if panics(cache.RealFIFOOptions{AtomicEvents: true}) || panics(cache.RealFIFOOptions{KnownObjects: knownPods{}}) {
		t.Error("a RealFIFO with just one of the two was refused")
	}
}

// Client-go's informers set AtomicEvents: a list is then one delta, and so is
// a resync, however many objects there are. It has synced when the list is popped.
func TestAtomicRealFIFOTakesAListInOneDelta(t *testing.T) {
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, AtomicEvents: true})
	must.Do(t, errors.Join(queue.Replace([]any{pod1, pod2, pod3}, "1"), queue.Resync()))
	wantPops(t, queue, "[[ReplacedAll] [SyncAll]]")
	for _, list := range [][]any{nil, {pod1, pod2, pod3}} {
		queue = cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, AtomicEvents: true})
		must.Do(t, queue.Replace(list, "1"))
		before := queue.HasSynced()
		_, err := queue.Pop(func(any, bool) error { return nil })
		must.Do(t, err)
		expect.That(t, !before && queue.HasSynced(), "%d pods: synced %t, and %t", len(list), before, queue.HasSynced())
	}
}

// As client-go's informers set it up: the queue is not locked while an item is
// processed.
func TestTheRealFIFOOfInformersMayBeCalledFromInsidePop(t *testing.T) {
	queue := cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, AtomicEvents: true,
		UnlockWhileProcessing: true})
	must.Do(t, queue.Add(pod1))
	_, err := queue.Pop(func(any, bool) error { return queue.Add(pod2) })
	must.Do(t, err)
	wantPops(t, queue, "[[Added]]")
}

// The same queue keeps its lock while two full batches wait: whoever adds has to
// wait, too. A DeltaFIFO always keeps it.
func TestALongRealFIFOStaysLockedInPop(t *testing.T) {
	for _, waiting := range []int{1999, 2000, 0} {
		queue := cache.Queue(cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KeyFunction: podKey, AtomicEvents: true,
			UnlockWhileProcessing: true}))
		if waiting == 0 {
			queue = newDeltaFIFO()
		}
		for range waiting + 1 { // and one that is popped
			must.Do(t, queue.Add(pod1))
		}
		added := make(chan error, 1)
		_, err := queue.Pop(func(any, bool) error {
			go func() { added <- queue.Add(pod2) }()
			if waiting == 1999 {
				must.Until(t, "Add has returned", func() bool { return len(added) == 1 })
				return nil
			}
			must.Until(t, "Add waits for the lock", func() bool {
				stacks := make([]byte, 1<<20)
				stacks = stacks[:runtime.Stack(stacks, true)]
				return bytes.Contains(stacks, []byte("[sync.Mutex.Lock"))
			})
			expect.That(t, len(added) <= 0, "it has not waited")
			return nil
		})
		must.Do(t, errors.Join(err, <-added))
	}
}

// A loop that ignores Pop's error never ends and never waits again.
func TestPopOnAClosedQueueReturnsAtOnceEveryTime(t *testing.T) {
	for _, queue := range []cache.Queue{newDeltaFIFO(), newRealFIFO(knownPods{})} {
		queue.Close()
		for range 3 {
			_, err := queue.Pop(func(any, bool) error { return nil })
			expect.That(t, err == cache.ErrFIFOClosed, "%T: Pop() = %v, want ErrFIFOClosed", queue, err)
		}
	}
}

func TestABareCastOfATombstonePanics(t *testing.T) {
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey,
		KnownObjects: knownPods{"pod1": pod1}})
	must.Do(t, queue.Replace(nil, ""))
	_, err := queue.Pop(func(obj any, _ bool) (err error) {
		defer func() {
			if recover() == nil {
				err = errors.New("the cast did not panic")
			}
		}()
		_ = obj.(cache.Deltas).Newest().Object.(pod)
		return nil
	})
	must.Do(t, err)
}

func TestATombstoneCanBeEmpty(t *testing.T) {
	for _, known := range []emptyLister{{}, {errors.New("no answer")}} {
		for _, queue := range []cache.Queue{
			cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KeyFunction: podKey, KnownObjects: known}),
			newRealFIFO(known),
		} {
			must.Do(t, queue.Replace(nil, ""))
			_, err := queue.Pop(func(obj any, _ bool) error {
				gone := obj.(cache.Deltas).Newest().Object.(cache.DeletedFinalStateUnknown)
				expect.That(t, gone.Key == "pod1" && gone.Obj == nil,
					"%T: got %+v, want pod1 without an object", queue, gone)
				return nil
			})
			must.Do(t, err)
		}
	}
}

// An emptyLister names a key but has no object for it.
type emptyLister struct{ err error }

func (emptyLister) ListKeys() []string                   { return []string{"pod1"} }
func (k emptyLister) GetByKey(string) (any, bool, error) { return nil, false, k.err }
