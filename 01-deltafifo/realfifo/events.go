// What a queue reports to somebody who watches it work.

package realfifo

import "k8s.io/client-go/tools/cache"

// The events that a Queue reports to its observer. It compares nothing and drops nothing.
type (
	// Queued: a delta waits, behind all others.
	Queued struct{ Delta cache.Delta }

	// Popped: the first delta was removed.
	Popped struct{ Delta cache.Delta }
)

// SetObserver sets a function that gets an event for each action of the queue, while the queue is
// locked. The function must be quick, and must not call the queue or change what it gets. Default:
// nil, which costs nothing.
func (q *Queue) SetObserver(observe func(event any)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.observe = observe
}
