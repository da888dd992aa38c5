// What a queue reports to somebody who watches it work.

package deltafifo

import "k8s.io/client-go/tools/cache"

// The events that a Queue reports to its observer.
type (
	// Queued: a delta waits, behind the other deltas of its key.
	Queued struct {
		Key   string
		Delta cache.Delta
	}

	// Dropped: a delete was dropped. Either nobody knows the object, or it is the second delete in a
	// row, and one of the two is enough.
	Dropped struct {
		Key    string
		Object any  // of the delete that was added last
		Second bool // a delete of the same object waits
	}

	// Compared: Replace has compared a list with the objects that wait here or are known. Missing are
	// the keys of those that the list lacks.
	Compared struct {
		Listed  int
		Missing []string
	}

	// Popped: all deltas of a key were removed.
	Popped struct {
		Key    string
		Deltas cache.Deltas
	}
)

// SetObserver sets a function that gets an event for each action of the queue, while the queue is
// locked. The function must be quick, and must not call the queue or change what it gets. Default:
// nil, which costs nothing.
func (q *Queue) SetObserver(observe func(event any)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.observe = observe
}

// reportQueued reports a delta that was added. isSecond says that it is the second delete in a row.
func (q *Queue) reportQueued(key string, added cache.Delta, isSecond bool) {
	switch {
	case q.observe == nil:
	case isSecond:
		q.observe(Dropped{Key: key, Object: added.Object, Second: true})
	default:
		q.observe(Queued{key, added})
	}
}

// reportDropped reports a delete of an object that nobody knows.
func (q *Queue) reportDropped(key string, obj any) {
	if q.observe != nil {
		q.observe(Dropped{Key: key, Object: obj})
	}
}

func (q *Queue) reportCompared(listed int, missing []string) {
	if q.observe != nil {
		q.observe(Compared{listed, missing})
	}
}

func (q *Queue) reportPopped(key string, deltas cache.Deltas) {
	if q.observe != nil {
		q.observe(Popped{key, deltas})
	}
}
