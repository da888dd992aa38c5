// As in client-go: each listener has two channels and a buffer between them.

package processor

import (
	"sync"
	"sync/atomic"

	"k8s.io/utils/buffer"
)

type channels struct {
	mu        sync.RWMutex
	listeners map[*channelListener]bool
}

// NewChannels returns a Fanout that hands each notification to each listener,
// one after the other. It costs two sends for each of them, and a goroutine that
// receives the first and makes the second; what a handler does not take in time
// is kept for it, without limit.
func NewChannels() Fanout {
	return &channels{listeners: map[*channelListener]bool{}}
}

func (c *channels) Distribute(n Notification) {
	c.mu.RLock()
	defer c.mu.RUnlock()
	for l := range c.listeners {
		l.add(n)
	}
}

// Listen never calls folded: each notification is delivered.
func (c *channels) Listen(func(int, int)) Listener {
	l := &channelListener{
		fanout: c,
		addCh:  make(chan Notification),
		nextCh: make(chan Notification),
		done:   make(chan struct{}),
	}
	l.batch.Store(new([1]Notification))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners[l] = true
	go l.pop()
	return l
}

// A channelListener has an add side, addCh, that is always ready, and a run side,
// nextCh, that is ready when the handler is. What the handler has not taken yet is
// in a ring buffer. It grows as long as there is memory, and never shrinks.
type channelListener struct {
	fanout               *channels
	addCh, nextCh        chan Notification                     // neither has a buffer
	pendingNotifications buffer.TypedRingGrowing[Notification] // for pop alone
	waiting              atomic.Int64
	batch                atomic.Pointer[[1]Notification] // what Next returned; nil when it is closed
	done                 chan struct{}
	once                 sync.Once
}

// add is the add side: it waits for pop, and for nothing else.
func (l *channelListener) add(n Notification) {
	if n.Kind != synced {
		l.waiting.Add(1)
	}
	select {
	case l.addCh <- n:
	case <-l.done:
	}
}

// pop moves notifications from addCh to nextCh. It never waits for one of the two
// alone: that is what the buffer is for.
func (l *channelListener) pop() {
	defer close(l.nextCh)
	defer func() { l.pendingNotifications = buffer.TypedRingGrowing[Notification]{} }()
	var nextCh chan Notification // nil while there is nothing to send: that case never happens
	var next Notification
	for {
		if nextCh == nil && l.pendingNotifications.Len() > 0 {
			nextCh = l.nextCh
			next, _ = l.pendingNotifications.ReadOne()
		}
		select {
		case n := <-l.addCh:
			l.pendingNotifications.WriteOne(n)
		case nextCh <- next:
			nextCh, next = nil, Notification{} // or it would keep its objects alive
		case <-l.done:
			return
		}
	}
}

// Next is the run side.
func (l *channelListener) Next() []Notification {
	batch := l.batch.Load()
	if batch == nil {
		return nil
	}
	batch[0] = Notification{}
	n, ok := <-l.nextCh
	if !ok {
		return nil
	}
	if n.Kind != synced {
		l.waiting.Add(-1)
	}
	batch[0] = n
	return batch[:]
}

func (l *channelListener) Waiting() int {
	select {
	case <-l.done:
		return 0
	default:
		return int(l.waiting.Load())
	}
}

func (l *channelListener) Close() {
	l.once.Do(func() {
		close(l.done)      // first of all: Distribute may be waiting for pop, with the lock
		l.batch.Store(nil) // it is now the reader's alone, who may still look at it
		l.fanout.mu.Lock()
		delete(l.fanout.listeners, l)
		l.fanout.mu.Unlock()
	})
	for range l.nextCh { // until pop has ended
	}
}
