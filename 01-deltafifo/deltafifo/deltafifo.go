// Package deltafifo is a queue of deltas. For each object that waits in the queue, it holds
// everything that happened to that object, oldest first.
//
// The types (Delta, Deltas, KeyFunc, DeletedFinalStateUnknown) are client-go's. So this queue can
// take the place of client-go's DeltaFIFO as a [cache.ReflectorStore]. The queue itself is ours,
// and small enough to read.
package deltafifo

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// Options of a Queue. The zero value makes a queue for Kubernetes objects that knows only the
// objects that wait in it.
type Options struct {
	// KeyFunction returns the key of an object. Default: cache.MetaNamespaceKeyFunc.
	KeyFunction cache.KeyFunc

	// KnownObjects are the objects that the consumer has popped and kept. Default: none. Then the
	// queue knows only the objects that wait in it: Delete drops the delete of any other object,
	// Replace does not report it as deleted, and Resync does nothing.
	KnownObjects cache.KeyListerGetter

	// EmitDeltaTypeReplaced makes Replace queue its objects as Replaced. Then a consumer can
	// distinguish a new list from a resync. Default: both are Sync.
	EmitDeltaTypeReplaced bool
}

// A Queue groups deltas by key. Producers call Add, Update, Delete, Replace and Resync. A consumer
// calls Pop. All methods may be called from any goroutine.
type Queue struct {
	keyFunc               cache.KeyFunc
	knownObjects          cache.KeyListerGetter // may be nil
	emitDeltaTypeReplaced bool                  // Replace queues Replaced, not Sync

	mu   sync.Mutex // guards the fields below
	cond sync.Cond  // uses mu; wakes Pop when queue grows, and when closed is set

	// items holds the deltas of each key that waits: at least one delta, and never two Deleted in a
	// row.
	items map[string]cache.Deltas

	// queue holds the keys that wait, in the order of their arrival. Each key of items is in queue
	// once, and queue has no other keys.
	queue []string

	closed bool

	synced                 chan struct{} // closed when the queue has synced: see HasSynced
	populated              bool          // the first list was queued, or a change without a list
	initialPopulationCount int           // how many keys of the first list still have to be popped
}

var _ cache.ReflectorStore = (*Queue)(nil)

// New returns an empty, open queue.
func New(opts Options) *Queue {
	q := &Queue{
		keyFunc:               opts.KeyFunction,
		knownObjects:          opts.KnownObjects,
		emitDeltaTypeReplaced: opts.EmitDeltaTypeReplaced,
		items:                 map[string]cache.Deltas{},
		synced:                make(chan struct{}),
	}
	if q.keyFunc == nil {
		q.keyFunc = cache.MetaNamespaceKeyFunc
	}
	q.cond.L = &q.mu
	return q
}

// Add queues an Added delta.
func (q *Queue) Add(obj any) error { return q.queueAction(cache.Added, obj) }

// Update queues an Updated delta.
func (q *Queue) Update(obj any) error { return q.queueAction(cache.Updated, obj) }

// Delete queues a Deleted delta if the object waits here or is a known object. Otherwise no
// consumer has the object, and Delete does nothing.
func (q *Queue) Delete(obj any) error { return q.queueAction(cache.Deleted, obj) }

// queueAction queues a delta under the key of its object. It drops the delete of an object that
// nobody knows.
func (q *Queue) queueAction(action cache.DeltaType, obj any) error {
	key, err := q.KeyOf(obj)
	if err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.populated = true
	q.checkSynced()
	if action == cache.Deleted && len(q.items[key]) == 0 && !q.knows(key) {
		return nil
	}
	q.queueActionLocked(key, cache.Delta{Type: action, Object: obj})
	return nil
}

// Replace takes list as the objects that exist now. It queues each object of list as Sync (or as
// Replaced, see Options). An object that waits here or is known, and is not in list, was deleted,
// but nobody saw its final state. Replace queues such an object as Deleted, with a
// DeletedFinalStateUnknown around its last known state.
func (q *Queue) Replace(list []any, _ string) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	action := cache.Sync
	if q.emitDeltaTypeReplaced {
		action = cache.Replaced
	}
	listed := map[string]bool{}
	for _, obj := range list {
		key, err := q.KeyOf(obj)
		if err != nil {
			return err
		}
		listed[key] = true
		q.queueActionLocked(key, cache.Delta{Type: action, Object: obj})
	}
	missing := q.missing(listed)
	for _, key := range missing {
		tombstone := cache.DeletedFinalStateUnknown{Key: key, Obj: q.lastSeen(key)}
		q.queueActionLocked(key, cache.Delta{Type: cache.Deleted, Object: tombstone})
	}
	if !q.populated {
		q.populated = true
		q.initialPopulationCount = len(listed) + len(missing)
		q.checkSynced()
	}
	return nil
}

// Resync queues a Sync delta for each known object that does not wait here. If an
// object waits, its deltas are newer than the known object.
func (q *Queue) Resync() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, key := range q.knownKeys() {
		obj, exists, err := q.knownObjects.GetByKey(key)
		if err == nil && exists && len(q.items[key]) == 0 {
			q.queueActionLocked(key, cache.Delta{Type: cache.Sync, Object: obj})
		}
	}
	return nil
}

// Pop waits until a key is in the queue. It removes the first key, and calls process with all
// deltas of this key. isInInitialList is true if the key is in the first list. Pop returns the
// error of process. If process returns an error, Pop does not put the deltas back. If the queue is
// closed and empty, Pop returns cache.ErrFIFOClosed.
//
// Pop holds the lock of the queue while process runs. So the queue does not read the known objects
// before process has changed them. process must not call the queue. It should be quick, because the
// reflector needs the same lock to queue the next delta.
func (q *Queue) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.queue) == 0 {
		if q.closed {
			return cache.ErrFIFOClosed
		}
		q.cond.Wait()
	}
	key := q.queue[0]
	q.queue = q.queue[1:]
	deltas := q.items[key]
	delete(q.items, key)
	err := process(deltas, !q.HasSynced())
	if q.initialPopulationCount > 0 {
		q.initialPopulationCount--
		q.checkSynced()
	}
	return err
}

// List returns the newest state of each object that waits, in the order in which Pop would return
// the objects.
func (q *Queue) List() []any {
	q.mu.Lock()
	defer q.mu.Unlock()
	objs := make([]any, 0, len(q.queue))
	for _, key := range q.queue {
		objs = append(objs, q.items[key].Newest().Object)
	}
	return objs
}

// Close makes Pop return cache.ErrFIFOClosed as soon as the queue is empty. Deltas that wait can
// still be popped, and new deltas are still queued.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.cond.Broadcast()
}

// KeyOf returns the key of an object, or of the tombstone of an object.
func (q *Queue) KeyOf(obj any) (string, error) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return tombstone.Key, nil
	}
	key, err := q.keyFunc(obj)
	if err != nil {
		return "", cache.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// queueActionLocked appends a delta to the deltas of a key. The caller holds mu.
func (q *Queue) queueActionLocked(key string, next cache.Delta) {
	waiting := q.items[key]
	if len(waiting) == 0 {
		q.queue = append(q.queue, key)
	}
	q.items[key] = dedupDeltas(waiting, next)
	q.cond.Broadcast()
}

// dedupDeltas appends next to deltas. Two deletes in a row become one. A tombstone has only the
// last known state of its object, so a delete with the final state is kept rather than a tombstone.
// Two deletes come in a row if a watch breaks after it has sent the first: the object is missing in
// the next list, too.
func dedupDeltas(deltas cache.Deltas, next cache.Delta) cache.Deltas {
	last := deltas.Newest()
	if last == nil || last.Type != cache.Deleted || next.Type != cache.Deleted {
		return append(deltas, next)
	}
	if _, isTombstone := last.Object.(cache.DeletedFinalStateUnknown); isTombstone {
		*last = next
	}
	return deltas
}

// missing returns the keys that are not listed: first the keys that wait here, then the keys of
// known objects.
func (q *Queue) missing(listed map[string]bool) []string {
	var keys []string
	for _, key := range q.queue {
		if !listed[key] {
			keys = append(keys, key)
		}
	}
	for _, key := range q.knownKeys() {
		if !listed[key] && len(q.items[key]) == 0 {
			keys = append(keys, key)
		}
	}
	return keys
}

// knownKeys returns the keys of the known objects.
func (q *Queue) knownKeys() []string {
	if q.knownObjects == nil {
		return nil
	}
	return q.knownObjects.ListKeys()
}

// knows reports whether the key is the key of a known object. If the known objects
// cannot be read, it reports true: a Deleted too many does less harm than a Deleted
// that is lost.
func (q *Queue) knows(key string) bool {
	if q.knownObjects == nil {
		return false
	}
	_, exists, err := q.knownObjects.GetByKey(key)
	return exists || err != nil
}

// lastSeen returns the last known state of an object: of its newest delta, or else of the known
// object. It returns nil if there is neither.
func (q *Queue) lastSeen(key string) any {
	if last := q.items[key].Newest(); last != nil {
		if tombstone, ok := last.Object.(cache.DeletedFinalStateUnknown); ok {
			return tombstone.Obj
		}
		return last.Object
	}
	obj, exists, err := q.knownObjects.GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	return obj
}
