// What happens in a queue of chapter 01, seen from outside.

package recorder

import (
	"maps"
	"slices"
	"sync"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/07-shared-informer/informer"
)

// An ObservedQueue is a queue of an informer that reports to an observer. The queue itself knows
// nothing of it: an ObservedQueue sees each call, and it knows which deltas a DeltaFIFO drops.
type ObservedQueue struct {
	informer.Queue
	known    cache.KeyListerGetter // the store behind the queue
	groups   bool                  // by key, as a DeltaFIFO does
	observer observer.Observer     // not changed once the informer runs; may be nil

	mu      sync.Mutex // guards the fields below; it is not held while the queue is called
	changed sync.Cond  // uses mu; signals a new delta, or the end
	deltas  int        // that wait
	newest  map[string]cache.DeltaType
	closed  bool
}

// NewObservedQueue returns a queue that reports what happens in another one. known is the store behind it.
func NewObservedQueue(queue informer.Queue, known cache.KeyListerGetter) *ObservedQueue {
	_, keepsOrder := queue.(cache.ReflectorBookmarkStore)
	q := &ObservedQueue{Queue: queue, known: known, groups: !keepsOrder, newest: map[string]cache.DeltaType{}}
	q.changed.L = &q.mu
	return q
}

// SetObserver sets the observer. Call it before the informer runs.
func (q *ObservedQueue) SetObserver(o observer.Observer) { q.observer = o }

// Add implements informer.Queue.
func (q *ObservedQueue) Add(obj any) error {
	q.willQueue(cache.Added, obj)
	return q.Queue.Add(obj)
}

// Update implements informer.Queue.
func (q *ObservedQueue) Update(obj any) error {
	q.willQueue(cache.Updated, obj)
	return q.Queue.Update(obj)
}

// Delete implements informer.Queue.
func (q *ObservedQueue) Delete(obj any) error {
	q.willQueue(cache.Deleted, obj)
	return q.Queue.Delete(obj)
}

// Replace implements informer.Queue.
func (q *ObservedQueue) Replace(list []any, version string) error {
	if !q.groups {
		q.willQueue(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: version, Objects: list})
		return q.Queue.Replace(list, version)
	}
	for _, obj := range list {
		q.willQueue(cache.Replaced, obj)
	}
	missing := q.missing(list)
	q.report(listCompared{listed: len(list), missing: missing, inQueue: true})
	for _, key := range missing {
		last, _, _ := q.known.GetByKey(key)
		q.willQueue(cache.Deleted, cache.DeletedFinalStateUnknown{Key: key, Obj: last})
	}
	return q.Queue.Replace(list, version)
}

// Resync implements informer.Queue. A DeltaFIFO leaves out objects whose deltas wait.
func (q *ObservedQueue) Resync() error {
	if !q.groups {
		q.willQueue(cache.SyncAll, cache.SyncAllInfo{})
		return q.Queue.Resync()
	}
	for _, key := range q.known.ListKeys() {
		if obj, exists, err := q.known.GetByKey(key); err == nil && exists && !q.waits(key) {
			q.willQueue(cache.Sync, obj)
		}
	}
	return q.Queue.Resync()
}

// Bookmark implements cache.ReflectorBookmarkStore. A DeltaFIFO has no place for a bookmark.
func (q *ObservedQueue) Bookmark(version string) error {
	ordered, ok := q.Queue.(cache.ReflectorBookmarkStore)
	if !ok {
		return nil
	}
	q.willQueue(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: version})
	return ordered.Bookmark(version)
}

// Pop implements informer.Queue. A list that a RealFIFO pops is compared with the store by process.
func (q *ObservedQueue) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	return q.Queue.Pop(func(deltas cache.Deltas, isInInitialList bool) error {
		q.wasPopped(deltas)
		if info, ok := deltas.Newest().Object.(cache.ReplacedAllInfo); ok {
			q.report(listCompared{listed: len(info.Objects), missing: q.missing(info.Objects)})
		}
		return process(deltas, isInInitialList)
	})
}

// Wait waits until a delta is in the queue, without the lock of the queue. It returns false if the queue
// is closed.
func (q *ObservedQueue) Wait() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.deltas <= 0 && !q.closed {
		q.changed.Wait()
	}
	return !q.closed
}

// Close implements informer.Queue.
func (q *ObservedQueue) Close() {
	q.mu.Lock()
	q.closed = true
	q.changed.Broadcast()
	q.mu.Unlock()
	q.Queue.Close()
}

// willQueue reports a delta before the queue gets it, so that the report of its pop comes later. A
// DeltaFIFO drops the delete of an object that nobody knows, and the second of two deletes in a row.
func (q *ObservedQueue) willQueue(action cache.DeltaType, obj any) {
	delta := cache.Delta{Type: action, Object: obj}
	key := deltaKey(delta)
	if key == "" {
		return // the queue refuses it
	}
	q.mu.Lock()
	newest, waits := q.newest[key]
	q.mu.Unlock()
	if q.groups && action == cache.Deleted {
		_, isKnown, _ := q.known.GetByKey(key)
		isSecond := waits && newest == cache.Deleted
		if isSecond || !waits && !isKnown {
			q.report(deltaDropped{key, isSecond})
			return
		}
	}
	q.report(deltaQueued{key, deltaWord(delta), q.groups, changeOf(key, delta)})
	q.mu.Lock()
	defer q.mu.Unlock()
	q.newest[key] = action
	q.deltas++
	q.changed.Broadcast()
}

func (q *ObservedQueue) wasPopped(deltas cache.Deltas) {
	newest := *deltas.Newest()
	popped := deltasPopped{key: deltaKey(newest)}
	for _, delta := range deltas {
		popped.words = append(popped.words, deltaWord(delta))
	}
	switch info := newest.Object.(type) {
	case cache.ReplacedAllInfo:
		popped.version = info.ResourceVersion
	case cache.BookmarkInfo:
		popped.version = info.ResourceVersion
	}
	q.report(popped)
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.newest, popped.key)
	q.deltas -= len(deltas)
}

func (q *ObservedQueue) waits(key string) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, waits := q.newest[key]
	return waits
}

// missing returns the keys of the objects that a list lacks: of those in the store, and for a DeltaFIFO
// of those that wait.
func (q *ObservedQueue) missing(list []any) (keys []string) {
	seen := map[string]bool{}
	for _, obj := range list {
		seen[deltaKey(cache.Delta{Object: obj})] = true
	}
	candidates := q.known.ListKeys()
	if q.groups {
		q.mu.Lock()
		candidates = slices.AppendSeq(candidates, maps.Keys(q.newest))
		q.mu.Unlock()
	}
	slices.Sort(candidates)
	for _, key := range slices.Compact(candidates) {
		if !seen[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

func (q *ObservedQueue) report(event any) {
	if q.observer != nil {
		q.observer.Observe(event)
	}
}
