// The pace of handlers, and of the loops that pop from a queue.

package server

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/01-deltafifo/realfifo"
	"example.com/informer/07-shared-informer/informer"
)

// A pace is how long each piece of work takes. It can change at any time.
type pace struct {
	ctx   context.Context // when it ends, all work ends
	delay atomic.Pointer[delay]
}

type delay struct {
	duration time.Duration
	replaced chan struct{} // closed when there is another delay
}

func newPace(ctx context.Context, duration time.Duration) *pace {
	p := &pace{ctx: ctx}
	p.delay.Store(&delay{duration, make(chan struct{})})
	return p
}

// setDuration changes how long work takes, including the work that goes on now.
func (p *pace) setDuration(duration time.Duration) {
	old := p.delay.Swap(&delay{duration, make(chan struct{})})
	close(old.replaced)
}

// work does nothing for as long as the pace says.
func (p *pace) work() {
	for {
		d := p.delay.Load()
		if d.duration == 0 {
			return
		}
		select {
		case <-time.After(d.duration):
			return
		case <-p.ctx.Done():
			return
		case <-d.replaced: // the work begins again, with the new delay
		}
	}
}

// A pacedQueue is a queue whose loop takes its time before it pops. It works before the pop, and not
// in it, so that what waits is seen to wait, and the reflector does not wait for a lock.
type pacedQueue struct {
	informer.Queue
	pace *pace

	mu      sync.Mutex
	changed sync.Cond // with mu; signals a new delta, or the end
	deltas  int       // that wait
	closed  bool
}

func newPacedQueue(queue informer.Queue, pace *pace) *pacedQueue {
	q := &pacedQueue{Queue: queue, pace: pace}
	q.changed.L = &q.mu
	return q
}

// SetObserver also counts the deltas that wait: a pacedQueue needs an observer.
func (q *pacedQueue) SetObserver(observe func(event any)) {
	q.Queue.(interface{ SetObserver(func(event any)) }).SetObserver(func(event any) {
		observe(event)
		switch e := event.(type) {
		case deltafifo.Queued, realfifo.Queued:
			q.count(1)
		case deltafifo.Popped:
			q.count(-len(e.Deltas))
		case realfifo.Popped:
			q.count(-1)
		}
	})
}

func (q *pacedQueue) count(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.deltas += n
	q.changed.Broadcast()
}

// Pop waits for a delta, without the lock of the queue, before it works and pops.
func (q *pacedQueue) Pop(process func(deltas cache.Deltas, isInInitialList bool) error) error {
	if q.awaitDelta() {
		q.pace.work()
	}
	return q.Queue.Pop(process)
}

// awaitDelta returns false if the queue is closed.
func (q *pacedQueue) awaitDelta() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.deltas == 0 && !q.closed {
		q.changed.Wait()
	}
	return !q.closed
}

// Close implements informer.Queue.
func (q *pacedQueue) Close() {
	q.mu.Lock()
	q.closed = true
	q.changed.Broadcast()
	q.mu.Unlock()
	q.Queue.Close()
}

// Bookmark implements cache.ReflectorBookmarkStore. A DeltaFIFO has no place for a bookmark.
func (q *pacedQueue) Bookmark(version string) error {
	if ordered, ok := q.Queue.(cache.ReflectorBookmarkStore); ok {
		return ordered.Bookmark(version)
	}
	return nil
}
