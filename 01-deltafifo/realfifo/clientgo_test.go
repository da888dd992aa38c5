// Random calls of our queue and of client-go's RealFIFO. The same deltas must come out of both, and
// both must have synced at the same time. Then the calls in which the two differ.

package realfifo_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/realfifo"
	"example.com/informer/scripts/harness/must"
)

// A queue is what our queue and client-go's have in common.
type queue interface {
	cache.ReflectorStore
	cache.ReflectorBookmarkStore
	Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error
	HasSynced() bool
	Close()
}

// theirs is client-go's queue with our Pop.
type theirs struct{ *cache.RealFIFO }

// newTheirs returns client-go's queue with the options of client-go's informers.
func newTheirs() theirs {
	return theirs{cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{
		KeyFunction: func(obj any) (string, error) {
			if name, ok := obj.(string); ok {
				return name, nil
			}
			return "", fmt.Errorf("want a string, got %T", obj)
		},
		AtomicEvents:          true,
		UnlockWhileProcessing: true,
		EmitDeltaTypeBookmark: true,
	})}
}

func (q theirs) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	_, err := q.RealFIFO.Pop(func(obj any, isInInitialList bool) error {
		return process(obj.(cache.Deltas), isInInitialList)
	})
	return err
}

// A call is a call of a queue. It returns what it sees and gets.
type call func(queue) []any

// randomCall returns any call. Its arguments have the number n.
func randomCall(random *rand.Rand, n int) (description string, c call) {
	obj, version := fmt.Sprintf("object %d", n), fmt.Sprint(n)
	list := make([]any, random.IntN(3))
	for i := range list {
		list[i] = fmt.Sprintf("%s in a list %d", obj, i)
	}
	returning := func(f func(queue) error) call { return func(q queue) []any { return []any{f(q)} } }
	switch random.IntN(10) {
	case 0:
		return "Add", returning(func(q queue) error { return q.Add(obj) })
	case 1:
		return "Update", returning(func(q queue) error { return q.Update(obj) })
	case 2:
		return "Delete", returning(func(q queue) error { return q.Delete(obj) })
	case 3:
		tombstone := cache.DeletedFinalStateUnknown{Key: obj, Obj: obj}
		return "Delete of a tombstone", returning(func(q queue) error { return q.Delete(tombstone) })
	case 4:
		return fmt.Sprintf("Replace with %d", len(list)),
			returning(func(q queue) error { return q.Replace(list, version) })
	case 5:
		return "Resync", returning(queue.Resync)
	case 6:
		return "Bookmark", returning(func(q queue) error { return q.Bookmark(version) })
	case 7:
		return "Pop, with an error", popping(func(queue) error { return errors.New("refused") })
	case 8: // not Replace: see TestWhereClientGosRealFIFODiffers
		return "Pop, with an Add in process", popping(func(q queue) error { return q.Add(obj) })
	default:
		return "Pop", popping(func(queue) error { return nil })
	}
}

// popping returns a Pop with this process. The queue must not be empty, or be closed.
func popping(process func(queue) error) call {
	return func(q queue) (seen []any) {
		err := q.Pop(func(deltas cache.Deltas, isInInitialList bool) error {
			seen = append(seen, deltas, isInInitialList, q.HasSynced())
			return process(q)
		})
		return append(seen, err)
	}
}

// The first scripts are short, so that a difference is found with few calls.
func TestSameAsClientGo(t *testing.T) {
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 1))
		ours, theirs := realfifo.New(), newTheirs()
		ours.Close() // so that Pop on an empty queue returns
		theirs.Close()
		var done []string
		compare := func(description string, c call) (empty bool) {
			done = append(done, description)
			got, want := append(c(ours), ours.HasSynced()), append(c(theirs), theirs.HasSynced())
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("seed %d, calls %q\nthe last one: %v\n want, as client-go: %v", seed, done, got, want)
			}
			return got[0] == cache.ErrFIFOClosed
		}
		for n := range 2 + int(seed)/20 {
			compare(randomCall(random, n))
		}
		for !compare("Pop", popping(func(queue) error { return nil })) { // until both are empty
		}
	}
}

// The two differ in three things. If one of these tests fails, client-go has changed: then the
// difference is none, and the random calls may include it. (A fourth is that with 2,000 deltas or
// more in the queue, client-go's Pop holds the lock.)
func TestWhereClientGosRealFIFODiffers(t *testing.T) {
	t.Run("an object without a key is refused, and the queue has synced", func(t *testing.T) {
		ours, theirs := realfifo.New(), newTheirs()
		must.NoError(t, ours.Add(1))
		if err := theirs.Add(1); err == nil || !theirs.HasSynced() {
			t.Errorf("client-go's Add = %v, and HasSynced() = %t, want an error and true", err, theirs.HasSynced())
		}
	})
	t.Run("a first list during a resync counts as popped when the resync is", func(t *testing.T) {
		synced := func(q queue) bool {
			must.NoError(t, q.Resync())
			must.NoError(t, q.Pop(func(cache.Deltas, bool) error { return q.Replace([]any{"a"}, "1") }))
			return q.HasSynced() // and the list is still in the queue
		}
		if got := synced(realfifo.New()); got {
			t.Error("our HasSynced() = true before the list was popped, want false")
		}
		if got := synced(newTheirs()); !got {
			t.Error("client-go's HasSynced() = false before the list was popped, want true")
		}
	})
	t.Run("a panic of process counts as the end of the first list", func(t *testing.T) {
		synced := func(q queue) bool {
			must.NoError(t, q.Replace(nil, "1"))
			func() {
				defer func() { _ = recover() }()
				_ = q.Pop(func(cache.Deltas, bool) error { panic("no") })
			}()
			return q.HasSynced()
		}
		if got := synced(realfifo.New()); got {
			t.Error("our HasSynced() = true after a panic, want false")
		}
		if got := synced(newTheirs()); !got {
			t.Error("client-go's HasSynced() = false after a panic, want true")
		}
	})
}
