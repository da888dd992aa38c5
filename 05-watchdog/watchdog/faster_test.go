// A loop that pops the first list before Replace has returned.

package watchdog

import (
	"errors"
	"runtime"
	"testing"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/must"
)

// The loop pops the only object of the first list as soon as Replace gives the lock of the queue
// back. The handler is busy with it when Replace goes on.
func TestTheLoopIsFasterThanReplace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	const want, tries = 3, 100
	times := 0 // how often the loop was faster
	for range tries {
		b, faster := replaceAndPop(t)
		dog := WatchDog{inbox: b}
		if dog.HasSynced() {
			t.Fatal("HasSynced() = true while the handler is busy with the first list, want false")
		}
		b.handled()
		if !dog.HasSynced() {
			t.Fatal("HasSynced() = false when all of the first list is handled, want true")
		}
		if faster {
			times++
		}
		if times == want {
			return
		}
	}
	t.Fatalf("the loop was faster than Replace in %d of %d tries, want %d", times, tries, want)
}

// replaceAndPop calls Replace with a first list of one object, and pops this object on another
// goroutine. It reports whether Pop was faster than the rest of Replace.
//
// Replace and Pop wait for the lock of the queue, in this order, while the key function of a list
// that is refused holds it. A second such list gets the lock before them. From then on the mutex is
// in its starvation mode, because they have waited for a millisecond: an Unlock gives the lock, and
// the processor, to the goroutine that has waited longest. So Pop runs before Replace goes on.
func replaceAndPop(t *testing.T) (*inbox, bool) {
	var b *inbox
	replaced, popped := make(chan error), make(chan struct{})
	isFirst := true
	key := func(obj any) (string, error) { // the queue calls it under its lock
		if name, err := cache.MetaNamespaceKeyFunc(obj); name != "ns/bad" {
			return name, err
		}
		if isFirst {
			isFirst = false
			go func() { replaced <- b.Replace([]any{configMap("a", "1")}, "1") }()
			runtime.Gosched() // until it waits
			go func() {
				defer close(popped)
				if err := b.Pop(func(cache.Deltas, bool) error { return nil }); err != nil {
					t.Error(err)
				}
			}()
			runtime.Gosched()
			for began := time.Now(); time.Since(began) < 2*time.Millisecond; {
			}
		}
		runtime.Gosched()
		return "", errors.New("I do not like it")
	}
	b = newInbox(Options{KeyFunction: key, ObjectType: configMap("", "")})
	b.Queue = deltafifo.New(deltafifo.Options{KeyFunction: key})
	for range 2 {
		if err := b.Queue.Replace([]any{configMap("bad", "1")}, "1"); err == nil {
			t.Error("Replace() = nil with an object that has no key, want an error")
		}
	}
	must.NoError(t, <-replaced)
	select {
	case <-popped:
		return b, true
	default:
		<-popped
		return b, false
	}
}
