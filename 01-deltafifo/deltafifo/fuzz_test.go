// Random operations through our queue and client-go's DeltaFIFO: the same
// deltas must come out of both, in the same order.

package deltafifo_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// An item is a toy pod.
type item struct {
	name  string
	value int
}

func itemKey(obj any) (string, error) {
	i, ok := obj.(item)
	if !ok {
		return "", fmt.Errorf("want an item, got %T", obj)
	}
	return i.name, nil
}

// sortedStore is a store whose keys come in order, so that two queues that
// read it can be compared.
type sortedStore struct{ cache.Store }

func (s sortedStore) ListKeys() []string { return slices.Sorted(slices.Values(s.Store.ListKeys())) }

// apply does to the store what a consumer does with the deltas it pops.
func (s sortedStore) apply(deltas cache.Deltas) error {
	for _, d := range deltas {
		obj := d.Object
		if d.Type != cache.Deleted {
			if err := s.Add(obj); err != nil {
				return err
			}
			continue
		}
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		if err := s.Store.Delete(obj); err != nil {
			return err
		}
	}
	return nil
}

// A testQueue is a queue with a store behind it, and one way to pop.
type testQueue struct {
	queue cache.ReflectorStore
	pop   func(process func(cache.Deltas) error) error
	store sortedStore
}

func newStore() sortedStore { return sortedStore{cache.NewStore(itemKey)} }

func ours(known, emitReplaced bool) testQueue {
	store := newStore()
	opts := deltafifo.Options{KeyFunction: itemKey, EmitDeltaTypeReplaced: emitReplaced}
	if known {
		opts.KnownObjects = store
	}
	q := deltafifo.New(opts)
	q.Close() // so that Pop on an empty queue returns
	return testQueue{q, q.Pop, store}
}

func theirs(known, emitReplaced bool) testQueue {
	store := newStore()
	opts := cache.DeltaFIFOOptions{KeyFunction: itemKey, EmitDeltaTypeReplaced: emitReplaced}
	if known {
		opts.KnownObjects = store
	}
	q := cache.NewDeltaFIFOWithOptions(opts)
	q.Close()
	pop := func(process func(cache.Deltas) error) error {
		_, err := q.Pop(func(obj any, _ bool) error { return process(obj.(cache.Deltas)) })
		return err
	}
	return testQueue{q, pop, store}
}

var names = []string{"a", "b", "c", "d"}

// do carries out one operation and says what came of it: an error, and the
// deltas if it was a pop. value makes objects of different operations differ.
func (c testQueue) do(op, arg byte, value int) (got cache.Deltas, err error) {
	one := item{names[arg%4], value}
	switch op % 8 {
	case 0:
		return nil, c.queue.Add(one)
	case 1:
		return nil, c.queue.Update(one)
	case 2:
		return nil, c.queue.Delete(one)
	case 3:
		return nil, c.queue.Delete(cache.DeletedFinalStateUnknown{Key: one.name, Obj: one})
	case 4:
		var list []any
		for i, name := range names {
			if arg&(1<<i) != 0 {
				list = append(list, item{name, value})
			}
		}
		return nil, c.queue.Replace(list, "")
	case 5:
		return nil, c.queue.Resync()
	case 6:
		return nil, c.queue.Add("no item")
	default:
		err := c.pop(func(d cache.Deltas) error { got = d; return c.store.apply(d) })
		return got, err
	}
}

// FuzzSameAsClientGo reads its input as a script: the first byte chooses the
// options, each two bytes after it are an operation and its argument.
func FuzzSameAsClientGo(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 1, 0, 2, 0})                         // add a and b, update a, delete a
	f.Add([]byte{1, 0, 0, 7, 0, 2, 0, 7, 0})                         // known objects: add, pop, delete, pop
	f.Add([]byte{0, 0, 0, 7, 0, 2, 0, 7, 0})                         // none: the delete is lost
	f.Add([]byte{1, 2, 0, 7, 0})                                     // known objects: the delete of what nobody knows
	f.Add([]byte{3, 4, 7, 7, 0, 7, 0, 4, 12, 5, 0})                  // replace, pop two, replace with others, resync
	f.Add([]byte{1, 4, 15, 7, 0, 7, 0, 7, 0, 7, 0, 1, 2, 5, 0})      // replace, pop all, update one, resync
	f.Add([]byte{1, 0, 0, 7, 0, 3, 0, 2, 0, 4, 0, 4, 0})             // tombstone, delete, empty lists
	f.Add([]byte{0, 0, 3, 4, 1, 4, 2, 6, 0, 7, 0, 2, 3, 7, 0, 0, 3}) // no known objects: replaces over a queued item
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 {
			return
		}
		known, emitReplaced := script[0]&1 != 0, script[0]&2 != 0
		a, b := ours(known, emitReplaced), theirs(known, emitReplaced)
		for i := 1; i+1 < len(script); i += 2 {
			step(t, a, b, script[i], script[i+1], i)
		}
		const popOp = 7
		for step(t, a, b, popOp, 0, 0) == nil { // until both say that they are empty
		}
	})
}

// step does the same to both and compares what came of it.
func step(t *testing.T, a, b testQueue, op, arg byte, value int) error {
	t.Helper()
	got, gotErr := a.do(op, arg, value)
	want, wantErr := b.do(op, arg, value)
	if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("operation %d %d: our error is %v, client-go's %v", op%8, arg, gotErr, wantErr)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("operation %d %d: we pop %v, client-go pops %v", op%8, arg, got, want)
	}
	return gotErr
}
