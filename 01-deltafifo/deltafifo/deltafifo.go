// Package deltafifo is a queue of deltas: for each object that waits in it,
// everything that happened to that object, oldest first.
//
// The words (Delta, Deltas, KeyFunc, DeletedFinalStateUnknown) are client-go's,
// so that this queue fits wherever client-go's DeltaFIFO fits as a
// [cache.ReflectorStore]. The queue itself is ours, small enough to read.
package deltafifo

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// Options of a Queue; the zero value is a queue for Kubernetes objects that
// knows nothing but what waits in it.
type Options struct {
	// KeyFunction names an object. Default: cache.MetaNamespaceKeyFunc.
	KeyFunction cache.KeyFunc

	// KnownObjects is what the consumer has: the objects that it popped and
	// kept. Without it the queue does not know that an object which is not
	// waiting exists at all: Delete of it is dropped, Replace reports no
	// missing ones, Resync does nothing.
	KnownObjects cache.KeyListerGetter

	// EmitDeltaTypeReplaced makes Replace queue its objects as Replaced, so that a
	// consumer can distinguish a new list from a resync. Default: Sync for both.
	EmitDeltaTypeReplaced bool
}

// A Queue groups deltas by key. Producers call Add, Update, Delete, Replace and
// Resync; a consumer calls Pop. All methods may be called from any goroutine.
type Queue struct {
	keyFunc               cache.KeyFunc
	knownObjects          cache.KeyListerGetter // or nil
	emitDeltaTypeReplaced bool                  // Replace queues Replaced, and not Sync

	lock sync.Mutex
	cond sync.Cond // signalled when queue grows or closed is set; with lock

	// items holds what happened to each waiting key: at least one delta,
	// and never two Deleted in a row.
	items map[string]cache.Deltas

	// queue holds the waiting keys, first come first. A key is in queue, once,
	// if and only if it is in items.
	queue []string

	closed bool
}

var _ cache.ReflectorStore = (*Queue)(nil)

// New returns an empty, open queue.
func New(opts Options) *Queue {
	q := &Queue{
		keyFunc:               opts.KeyFunction,
		knownObjects:          opts.KnownObjects,
		emitDeltaTypeReplaced: opts.EmitDeltaTypeReplaced,
		items:                 map[string]cache.Deltas{},
	}
	if q.keyFunc == nil {
		q.keyFunc = cache.MetaNamespaceKeyFunc
	}
	q.cond.L = &q.lock
	return q
}

// Add queues an Added delta.
func (q *Queue) Add(obj any) error { return q.queueAction(cache.Added, obj) }

// Update queues an Updated delta.
func (q *Queue) Update(obj any) error { return q.queueAction(cache.Updated, obj) }

// Delete queues a Deleted delta, provided that the object waits here or is a
// known object. Otherwise no consumer has it, and it does nothing.
func (q *Queue) Delete(obj any) error { return q.queueAction(cache.Deleted, obj) }

// queueAction queues a delta under its object's key; what nobody knows cannot be
// deleted.
func (q *Queue) queueAction(action cache.DeltaType, obj any) error {
	key, err := q.KeyOf(obj)
	if err != nil {
		return err
	}
	q.lock.Lock()
	defer q.lock.Unlock()
	if action == cache.Deleted && len(q.items[key]) == 0 && !q.knows(key) {
		return nil
	}
	q.queueActionLocked(key, cache.Delta{Type: action, Object: obj})
	return nil
}

// Replace takes list for all that exists now. Each object of it is queued as
// Sync (or Replaced, see Options); each object that waits here or is known,
// but is not in list, is queued as Deleted with a DeletedFinalStateUnknown
// around the last state seen of it: when and as what it ended, nobody saw.
func (q *Queue) Replace(list []any, _ string) error {
	q.lock.Lock()
	defer q.lock.Unlock()
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
	for _, key := range q.missing(listed) {
		tombstone := cache.DeletedFinalStateUnknown{Key: key, Obj: q.lastSeen(key)}
		q.queueActionLocked(key, cache.Delta{Type: cache.Deleted, Object: tombstone})
	}
	return nil
}

// Resync queues a Sync delta for each known object that does not wait here
// already: if it waits, the consumer is about to get something newer.
func (q *Queue) Resync() error {
	q.lock.Lock()
	defer q.lock.Unlock()
	for _, key := range q.knownKeys() {
		obj, exists, err := q.knownObjects.GetByKey(key)
		if err == nil && exists && len(q.items[key]) == 0 {
			q.queueActionLocked(key, cache.Delta{Type: cache.Sync, Object: obj})
		}
	}
	return nil
}

// Pop waits until something is in the queue, takes the key that came first out
// of it, and calls process with everything that happened to it. It returns what
// process returns; deltas that process refuses are not put back. On a queue that
// is closed and empty it returns cache.ErrFIFOClosed.
//
// process runs under the queue's lock: what it does to the known objects is done
// before the queue looks at them again. It must not call the queue, and it should
// be quick: the reflector waits for the same lock to bring what comes next.
func (q *Queue) Pop(process func(cache.Deltas) error) error {
	q.lock.Lock()
	defer q.lock.Unlock()
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
	return process(deltas)
}

// List returns the newest state of each object that waits, in the order in
// which Pop would give them.
func (q *Queue) List() []any {
	q.lock.Lock()
	defer q.lock.Unlock()
	objs := make([]any, 0, len(q.queue))
	for _, key := range q.queue {
		objs = append(objs, q.items[key].Newest().Object)
	}
	return objs
}

// Close lets Pop return once the queue is empty. What waits can still be
// popped, and what comes later is still queued.
func (q *Queue) Close() {
	q.lock.Lock()
	defer q.lock.Unlock()
	q.closed = true
	q.cond.Broadcast()
}

// KeyOf names the object, even when only its tombstone is left.
func (q *Queue) KeyOf(obj any) (string, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return gone.Key, nil
	}
	key, err := q.keyFunc(obj)
	if err != nil {
		return "", cache.KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

// queueActionLocked appends a delta to those that wait under key. The caller holds
// the lock.
func (q *Queue) queueActionLocked(key string, next cache.Delta) {
	waiting := q.items[key]
	if len(waiting) == 0 {
		q.queue = append(q.queue, key)
	}
	q.items[key] = dedupDeltas(waiting, next)
	q.cond.Broadcast()
}

// dedupDeltas appends next, except that two deletes in a row become one: the one
// that carries the object's true last state rather than a guess at it. Two deletes
// come in a row when a watch was cut after it sent the first: the next list lacks
// the object, too.
func dedupDeltas(deltas cache.Deltas, next cache.Delta) cache.Deltas {
	last := deltas.Newest()
	if last == nil || last.Type != cache.Deleted || next.Type != cache.Deleted {
		return append(deltas, next)
	}
	if _, guess := last.Object.(cache.DeletedFinalStateUnknown); guess {
		*last = next
	}
	return deltas
}

// missing returns the keys that wait here, then the known ones, that are not listed.
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

// knownKeys returns the keys of the known objects, if there are any.
func (q *Queue) knownKeys() []string {
	if q.knownObjects == nil {
		return nil
	}
	return q.knownObjects.ListKeys()
}

// knows is true also when looking failed: one Deleted too many does less harm
// than one that is lost.
func (q *Queue) knows(key string) bool {
	if q.knownObjects == nil {
		return false
	}
	_, exists, err := q.knownObjects.GetByKey(key)
	return exists || err != nil
}

// lastSeen returns the newest state of the object under key that anyone here
// has, or nil.
func (q *Queue) lastSeen(key string) any {
	if last := q.items[key].Newest(); last != nil {
		if gone, ok := last.Object.(cache.DeletedFinalStateUnknown); ok {
			return gone.Obj
		}
		return last.Object
	}
	obj, exists, err := q.knownObjects.GetByKey(key)
	if err != nil || !exists {
		return nil
	}
	return obj
}
