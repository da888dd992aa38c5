// Random operations on our queue and on client-go's DeltaFIFO. The same deltas must come out of
// both, in the same order, and both must have synced at the same time.

package deltafifo_test

import (
	"fmt"
	"math/rand/v2"
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

// item returns the item of an operation that has one.
func (o operation) item() item { return item{itemNames[int(o.arg)%len(itemNames)], o.value} }

// list returns the list of a Replace.
func (o operation) list() (list []any) {
	for i, name := range itemNames {
		if o.arg&(1<<i) != 0 {
			list = append(list, item{name, o.value})
		}
	}
	return list
}

// String returns the operation as a call.
func (o operation) String() string {
	switch o.op {
	case opAdd:
		return fmt.Sprintf("Add(%v)", o.item())
	case opUpdate:
		return fmt.Sprintf("Update(%v)", o.item())
	case opDelete:
		return fmt.Sprintf("Delete(%v)", o.item())
	case opDeleteTombstone:
		return fmt.Sprintf("Delete(tombstone of %v)", o.item())
	case opReplace:
		return fmt.Sprintf("Replace(%v)", o.list())
	case opResync:
		return "Resync()"
	case opDeleteWithoutKey:
		return "Delete(no item)"
	default:
		return "Pop()"
	}
}

// A result is the answer of a queue to an operation.
type result struct {
	popped          cache.Deltas
	isInInitialList bool // of popped
	err             error
}

// execute carries out an operation.
func (q testQueue) execute(o operation) (r result) {
	switch o.op {
	case opAdd:
		return result{err: q.queue.Add(o.item())}
	case opUpdate:
		return result{err: q.queue.Update(o.item())}
	case opDelete:
		return result{err: q.queue.Delete(o.item())}
	case opDeleteTombstone:
		return result{err: q.queue.Delete(cache.DeletedFinalStateUnknown{Key: o.item().name, Obj: o.item()})}
	case opReplace:
		return result{err: q.queue.Replace(o.list(), "")}
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

// compareWithClientGos carries out a script on both queues, and compares what they return. The
// first byte of the script chooses the options. Each two bytes after it are an operation and its
// argument.
func compareWithClientGos(t *testing.T, script []byte) {
	t.Helper()
	if len(script) == 0 {
		return
	}
	options := queueOptions{hasKnownObjects: script[0]&1 != 0, emitReplaced: script[0]&2 != 0}
	ours, theirs := newOurs(options), newTheirs(options)
	var done []operation
	compare := func(o operation) error {
		done = append(done, o)
		got, want := ours.execute(o), theirs.execute(o)
		for _, answer := range []struct {
			name      string
			got, want any
		}{
			{"popped", got.popped, want.popped}, // before the error, which says only that something was popped
			{"error", fmt.Sprint(got.err), fmt.Sprint(want.err)},
			{"isInInitialList", got.isInInitialList, want.isInInitialList},
			{"HasSynced() afterwards", ours.hasSynced(), theirs.hasSynced()},
		} {
			if !reflect.DeepEqual(answer.got, answer.want) {
				t.Fatalf("known objects: %t; calls: %v\nof the last one, %s: %v\n  want client-go's: %v",
					options.hasKnownObjects, done, answer.name, answer.got, answer.want)
			}
		}
		return got.err
	}
	for i := 1; i+1 < len(script); i += 2 {
		_ = compare(operation{op: int(script[i]) % numOps, arg: script[i+1], value: i})
	}
	for compare(operation{op: opPop}) == nil { // until both queues are empty
	}
}

// The first scripts are short, so that a difference is found with few calls.
func TestSameAsClientGo(t *testing.T) {
	for seed := range uint64(1000) {
		random := rand.New(rand.NewPCG(seed, 1))
		script := make([]byte, 5+seed/10)
		for i := range script {
			script[i] = byte(random.Uint32())
		}
		compareWithClientGos(t, script)
	}
}

func FuzzSameAsClientGo(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 1, 1, 0, 2, 0})                         // add a and b, update a, delete a
	f.Add([]byte{1, 0, 0, 7, 0, 2, 0, 7, 0})                         // known objects: add, pop, delete, pop
	f.Add([]byte{0, 0, 0, 7, 0, 2, 0, 7, 0})                         // none: the delete is lost
	f.Add([]byte{1, 2, 0, 7, 0})                                     // known objects: delete of an unknown object
	f.Add([]byte{3, 4, 7, 7, 0, 7, 0, 4, 12, 5, 0})                  // replace, pop two, replace with others, resync
	f.Add([]byte{1, 4, 15, 7, 0, 7, 0, 7, 0, 7, 0, 1, 2, 5, 0})      // replace, pop all, update one, resync
	f.Add([]byte{1, 0, 0, 7, 0, 3, 0, 2, 0, 4, 0, 4, 0})             // tombstone, delete, empty lists
	f.Add([]byte{0, 0, 3, 4, 1, 4, 2, 6, 0, 7, 0, 2, 3, 7, 0, 0, 3}) // no known objects: replaces over a queued item
	f.Fuzz(compareWithClientGos)
}
