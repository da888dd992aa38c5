package parttwo

import (
	"sync"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
)

// noQueue has the methods of a queue, and nothing waits in it: the goroutine that adds a delta
// processes it, and gets the error. So a list that the store refuses is an error for the reflector,
// which lists again. Behind a queue, such a list is lost.
//
// All calls but Resync, Pop and Close come from the goroutine of the reflector, and the first of them
// is Replace.
type noQueue struct {
	process func(deltas cache.Deltas, isInInitialList bool) error // given to Pop

	popping sync.Once
	ready   chan struct{} // closed when process is set
	closing sync.Once
	closed  chan struct{}
	synced  chan struct{} // closed when the first list is processed

	next [1]cache.Delta // what is processed; only the goroutine of the reflector uses it
}

var _ cache.ReflectorBookmarkStore = (*noQueue)(nil)

// NoQueue makes what takes the place of a queue: the reflector changes the store itself.
func NoQueue(cache.KeyListerGetter) informer.Queue {
	return &noQueue{ready: make(chan struct{}), closed: make(chan struct{}), synced: make(chan struct{})}
}

func (q *noQueue) Add(obj any) error    { return q.handle(cache.Added, obj) }
func (q *noQueue) Update(obj any) error { return q.handle(cache.Updated, obj) }
func (q *noQueue) Delete(obj any) error { return q.handle(cache.Deleted, obj) }

func (q *noQueue) Bookmark(version string) error {
	return q.handle(cache.Bookmark, cache.BookmarkInfo{ResourceVersion: version})
}

// Replace waits until Pop has begun. If the store refuses the first list, the next one is the first.
func (q *noQueue) Replace(list []any, version string) error {
	select {
	case <-q.ready:
	case <-q.closed:
		return cache.ErrFIFOClosed
	}
	err := q.handle(cache.ReplacedAll, cache.ReplacedAllInfo{ResourceVersion: version, Objects: list})
	if err == nil && !cache.IsDone(q) {
		close(q.synced)
	}
	return err
}

func (q *noQueue) handle(action cache.DeltaType, obj any) error {
	q.next[0] = cache.Delta{Type: action, Object: obj}
	err := q.process(q.next[:], !cache.IsDone(q))
	q.next[0] = cache.Delta{} // for the garbage collector
	return err
}

// Resync has a goroutine of its own.
func (q *noQueue) Resync() error {
	return q.process(cache.Deltas{{Type: cache.SyncAll, Object: cache.SyncAllInfo{}}}, false)
}

// Pop takes process, with which the reflector processes all deltas, and returns when the queue is
// closed.
func (q *noQueue) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	q.popping.Do(func() {
		q.process = process
		close(q.ready)
	})
	<-q.closed
	return cache.ErrFIFOClosed
}

func (q *noQueue) Close() { q.closing.Do(func() { close(q.closed) }) }

// Name implements cache.DoneChecker.
func (q *noQueue) Name() string { return "no queue" }

// Done implements cache.DoneChecker: it is closed when the first list is processed.
func (q *noQueue) Done() <-chan struct{} { return q.synced }
