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
// back. When Replace goes on, the handler is busy with this object, or has returned already.
func TestTheLoopIsFasterThanReplace(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	for _, test := range []struct {
		name   string
		isBusy bool // the handler, until Replace has returned
	}{{"a handler that is busy", true}, {"a handler that returns at once", false}} {
		t.Run(test.name, func(t *testing.T) {
			const want, tries = 3, 100
			times := 0 // how often the loop was faster
			for try := 0; times < want; try++ {
				if try == tries {
					t.Fatalf("the loop was faster than Replace in %d of %d tries, want %d", times, tries, want)
				}
				b, faster := replaceAndPop(t, !test.isBusy)
				dog := WatchDog{inbox: b}
				if test.isBusy {
					if dog.HasSynced() {
						t.Fatal("HasSynced() = true while the handler is busy with the first list, want false")
					}
					b.handled()
				}
				if !dog.HasSynced() {
					t.Fatal("HasSynced() = false when all of the first list is handled, want true")
				}
				if faster {
					times++
				}
			}
		})
	}
}

// replaceAndPop calls Replace with a first list of one object. On another goroutine, it pops this
// object, and calls handled if handle is true. It reports whether that was faster than the rest of
// Replace.
//
// Replace and Pop wait for the lock of the queue, in this order, while the key function of a list
// that is refused holds it. A second such list gets the lock before them. From then on the mutex is
// in its starvation mode, because they have waited for a millisecond: an Unlock gives the lock, and
// the processor, to the goroutine that has waited longest. So Pop runs before Replace goes on.
func replaceAndPop(t *testing.T, handle bool) (*inbox, bool) {
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
				if handle {
					b.handled()
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
