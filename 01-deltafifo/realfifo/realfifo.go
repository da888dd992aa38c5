// Package realfifo is a queue of deltas in the order of their arrival. A list is one delta, and so
// are a resync and a bookmark. The queue does not know the objects of its consumer: the consumer
// finds out what a list adds, changes and removes, because it has the objects.
//
// The types (Delta, ReplacedAllInfo, SyncAllInfo, BookmarkInfo) are client-go's. So this queue can
// take the place of client-go's RealFIFO, with the options of an informer, as a
// [cache.ReflectorStore].
package realfifo

import (
	"sync"

	"k8s.io/client-go/tools/cache"
)

// A Queue holds deltas until a consumer pops them, one by one. Producers call the other methods,
// from any goroutine. One goroutine pops: with two, a newer delta could be processed before an
// older one.
type Queue struct {
	mu   sync.Mutex // guards the fields below
	cond sync.Cond  // uses mu; wakes Pop when items grows, and when closed is set

	items  []cache.Delta // the deltas that wait, oldest first
	closed bool

	synced    chan struct{} // closed when the queue has synced: see HasSynced
	populated bool          // the first list was queued, or a change without a list
}

var (
	_ cache.ReflectorStore         = (*Queue)(nil)
	_ cache.ReflectorBookmarkStore = (*Queue)(nil)
	_ cache.DoneChecker            = (*Queue)(nil)
)

// New returns an empty, open queue.
func New() *Queue {
	q := &Queue{synced: make(chan struct{})}
	q.cond.L = &q.mu
	return q
}

// Add queues an Added delta.
func (q *Queue) Add(obj any) error { return q.queueAction(cache.Added, obj) }

// Update queues an Updated delta.
func (q *Queue) Update(obj any) error { return q.queueAction(cache.Updated, obj) }

// Delete queues a Deleted delta. The queue cannot say whether the consumer has the object.
func (q *Queue) Delete(obj any) error { return q.queueAction(cache.Deleted, obj) }

// Replace queues a list as one ReplacedAll delta. Of the consumer's objects, those that are not in
// the list were deleted, but nobody saw their final state.
func (q *Queue) Replace(list []any, version string) error {
	return q.queueAction(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: version, Objects: list})
}

// Resync queues one SyncAll delta, which asks the consumer to process all its objects again.
func (q *Queue) Resync() error { return q.queueAction(cache.SyncAll, cache.SyncAllInfo{}) }

// Bookmark queues one Bookmark delta: all changes up to this version are queued before it.
func (q *Queue) Bookmark(version string) error {
	return q.queueAction(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: version})
}

// queueAction appends a delta. After a change without a list, there is no first list to wait for.
func (q *Queue) queueAction(action cache.DeltaType, obj any) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch action {
	case cache.ReplacedAll:
		q.populated = true
	case cache.Added, cache.Updated, cache.Deleted:
		if !q.populated {
			q.populated = true
			close(q.synced)
		}
	}
	q.items = append(q.items, cache.Delta{Type: action, Object: obj})
	q.cond.Broadcast()
	return nil
}

// Pop waits until a delta is in the queue. It removes the first delta, and calls process with it.
// isInInitialList is true up to the first list. Pop returns the error of process. If process
// returns an error, Pop does not put the delta back. If the queue is closed and empty, Pop returns
// cache.ErrFIFOClosed.
//
// Pop does not hold the lock of the queue while process runs: process may take its time, and the
// reflector can queue the next delta.
func (q *Queue) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	next, err := q.take()
	if err != nil {
		return err
	}
	err = process(cache.Deltas{next}, !q.HasSynced())
	if next.Type == cache.ReplacedAll && !q.HasSynced() {
		close(q.synced)
	}
	return err
}

// take waits until a delta is in the queue, and removes the first one.
func (q *Queue) take() (cache.Delta, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		if q.closed {
			return cache.Delta{}, cache.ErrFIFOClosed
		}
		q.cond.Wait()
	}
	first := q.items[0]
	q.items[0] = cache.Delta{} // the array behind items would keep the object in memory
	q.items = q.items[1:]
	return first, nil
}

// Close makes Pop return cache.ErrFIFOClosed as soon as the queue is empty. Deltas that wait can
// still be popped, and new deltas are still queued.
func (q *Queue) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.cond.Broadcast()
}

// HasSynced is true once the first list is popped, and process has returned. It never becomes false
// again. If Add, Update or Delete comes before the first list, it is true from then on.
func (q *Queue) HasSynced() bool { return cache.IsDone(q) }

// Name implements cache.DoneChecker.
func (q *Queue) Name() string { return "RealFIFO" }

// Done implements cache.DoneChecker: it is closed when HasSynced becomes true.
func (q *Queue) Done() <-chan struct{} { return q.synced }
