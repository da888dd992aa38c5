// Random operations on our queue and on client-go's DeltaFIFO. The same deltas must come out of
// both, in the same order, and both must have synced at the same time.

package deltafifo_test

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// A sortedStore lists its keys in order. So two queues whose known objects it is report missing
// objects in the same order.
type sortedStore struct{ cache.Store }

func newSortedStore() sortedStore { return sortedStore{cache.NewStore(itemKey)} }

func (s sortedStore) ListKeys() []string { return slices.Sorted(slices.Values(s.Store.ListKeys())) }

// apply changes the store as a consumer does that pops these deltas.
func (s sortedStore) apply(deltas cache.Deltas) error {
	for _, delta := range deltas {
		obj := delta.Object
		if delta.Type != cache.Deleted {
			if err := s.Add(obj); err != nil {
				return err
			}
			continue
		}
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		if err := s.Store.Delete(obj); err != nil {
			return err
		}
	}
	return nil
}

// A testQueue is a queue, the store of its consumer, and a Pop with one signature for our queue and
// for client-go's.
type testQueue struct {
	queue     cache.ReflectorStore
	pop       func(process func(deltas cache.Deltas, isInInitialList bool) error) error
	hasSynced func() bool
	store     sortedStore
}

// queueOptions are the options that both kinds of queues have.
type queueOptions struct {
	hasKnownObjects bool
	emitReplaced    bool
}

// newOurs returns our queue. It is closed, so that Pop on an empty queue returns.
func newOurs(options queueOptions) testQueue {
	store := newSortedStore()
	opts := deltafifo.Options{KeyFunction: itemKey, EmitDeltaTypeReplaced: options.emitReplaced}
	if options.hasKnownObjects {
		opts.KnownObjects = store
	}
	q := deltafifo.New(opts)
	q.Close()
	return testQueue{queue: q, pop: q.Pop, hasSynced: q.HasSynced, store: store}
}

// newTheirs returns client-go's queue. It is closed, so that Pop on an empty queue returns.
func newTheirs(options queueOptions) testQueue {
	store := newSortedStore()
	opts := cache.DeltaFIFOOptions{KeyFunction: itemKey, EmitDeltaTypeReplaced: options.emitReplaced}
	if options.hasKnownObjects {
		opts.KnownObjects = store
	}
	q := cache.NewDeltaFIFOWithOptions(opts)
	q.Close()
	pop := func(process func(cache.Deltas, bool) error) error {
		_, err := q.Pop(func(obj any, initial bool) error { return process(obj.(cache.Deltas), initial) })
		return err
	}
	return testQueue{queue: q, pop: pop, hasSynced: q.HasSynced, store: store}
}

// The operations of a script.
const (
	opAdd = iota
	opUpdate
	opDelete
	opDeleteTombstone
	opReplace
	opResync
	opDeleteWithoutKey // not Add: client-go's queue counts as synced after an Add that it has refused
	opPop
	numOps
)

var itemNames = []string{"a", "b", "c", "d"}

// An operation is one call of a queue.
type operation struct {
	op    int
	arg   byte // of a Replace: a bit for each item of the list; else the number of the item
	value int  // makes the objects of different operations differ
}

// A result is the answer of a queue to an operation.
type result struct {
	popped          cache.Deltas
	isInInitialList bool // of popped
	err             error
}

// execute carries out an operation.
func (q testQueue) execute(o operation) (r result) {
	obj := item{itemNames[int(o.arg)%len(itemNames)], o.value}
	switch o.op {
	case opAdd:
		return result{err: q.queue.Add(obj)}
	case opUpdate:
		return result{err: q.queue.Update(obj)}
	case opDelete:
		return result{err: q.queue.Delete(obj)}
	case opDeleteTombstone:
		return result{err: q.queue.Delete(cache.DeletedFinalStateUnknown{Key: obj.name, Obj: obj})}
	case opReplace:
		var list []any
		for i, name := range itemNames {
			if o.arg&(1<<i) != 0 {
				list = append(list, item{name, o.value})
			}
		}
		return result{err: q.queue.Replace(list, "")}
	case opResync:
		return result{err: q.queue.Resync()}
	case opDeleteWithoutKey:
		return result{err: q.queue.Delete("no item")}
	case opPop:
		r.err = q.pop(func(deltas cache.Deltas, isInInitialList bool) error {
			r.popped, r.isInInitialList = deltas, isInInitialList
			return q.store.apply(deltas)
		})
		return r
	default:
		return result{err: fmt.Errorf("no operation %d", o.op)}
	}
}

// FuzzSameAsClientGo reads its input as a script: the first byte chooses the options. Each two
// bytes after it are an operation and its argument.
func FuzzSameAsClientGo(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 1, 0, 2, 0})                         // add a and b, update a, delete a
	f.Add([]byte{1, 0, 0, 7, 0, 2, 0, 7, 0})                         // known objects: add, pop, delete, pop
	f.Add([]byte{0, 0, 0, 7, 0, 2, 0, 7, 0})                         // none: the delete is lost
	f.Add([]byte{1, 2, 0, 7, 0})                                     // known objects: delete of an unknown object
	f.Add([]byte{3, 4, 7, 7, 0, 7, 0, 4, 12, 5, 0})                  // replace, pop two, replace with others, resync
	f.Add([]byte{1, 4, 15, 7, 0, 7, 0, 7, 0, 7, 0, 1, 2, 5, 0})      // replace, pop all, update one, resync
	f.Add([]byte{1, 0, 0, 7, 0, 3, 0, 2, 0, 4, 0, 4, 0})             // tombstone, delete, empty lists
	f.Add([]byte{0, 0, 3, 4, 1, 4, 2, 6, 0, 7, 0, 2, 3, 7, 0, 0, 3}) // no known objects: replaces over a queued item
	f.Fuzz(func(t *testing.T, script []byte) {
		if len(script) == 0 {
			return
		}
		options := queueOptions{hasKnownObjects: script[0]&1 != 0, emitReplaced: script[0]&2 != 0}
		ours, theirs := newOurs(options), newTheirs(options)
		for i := 1; i+1 < len(script); i += 2 {
			compareExecution(t, ours, theirs, operation{op: int(script[i]) % numOps, arg: script[i+1], value: i})
		}
		for {
			err := compareExecution(t, ours, theirs, operation{op: opPop})
			if err != nil { // both queues are empty
				return
			}
		}
	})
}

// compareExecution carries out an operation on both queues, and compares the results. It returns
// the error of the queues.
func compareExecution(t *testing.T, ours, theirs testQueue, o operation) error {
	t.Helper()
	got, want := ours.execute(o), theirs.execute(o)
	if fmt.Sprint(got.err) != fmt.Sprint(want.err) {
		t.Fatalf("operation %+v: our error is %v, client-go's %v", o, got.err, want.err)
	}
	if !reflect.DeepEqual(got.popped, want.popped) {
		t.Fatalf("operation %+v: we pop %v, client-go pops %v", o, got.popped, want.popped)
	}
	if got.isInInitialList != want.isInInitialList {
		t.Fatalf("operation %+v: our isInInitialList is %t, client-go's %t", o, got.isInInitialList,
			want.isInInitialList)
	}
	if ours.hasSynced() != theirs.hasSynced() {
		t.Fatalf("after operation %+v: our HasSynced() is %t, client-go's %t", o, ours.hasSynced(),
			theirs.hasSynced())
	}
	return got.err
}
