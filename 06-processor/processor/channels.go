// The fan-out of client-go: each listener has two channels, and a buffer between them.

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

// NewChannels returns a Fanout that gives each notification to each listener, one after the other.
// Each listener costs two sends, and a goroutine between them. The notifications that a handler has
// not taken yet are kept without a limit.
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

// Listen never calls folded, because each notification is delivered.
func (c *channels) Listen(*Registration) Listener {
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

// A channelListener has two sides. The add side, addCh, is always ready. The run side, nextCh, is
// ready when the handler is. A ring buffer between them holds the notifications that the handler
// has not taken yet. It grows as long as there is memory, and never shrinks.
type channelListener struct {
	fanout               *channels
	addCh, nextCh        chan Notification                     // neither has a buffer
	pendingNotifications buffer.TypedRingGrowing[Notification] // only pop uses it
	waiting              atomic.Int64
	batch                atomic.Pointer[[1]Notification] // the result of Next; nil when the listener is closed
	done                 chan struct{}
	once                 sync.Once
}

// add is the add side. It waits only for pop.
func (l *channelListener) add(n Notification) {
	if n.Kind != Synced {
		l.waiting.Add(1)
	}
	select {
	case l.addCh <- n:
	case <-l.done:
	}
}

// pop moves notifications from addCh to nextCh. Because of the buffer, it never waits for only one of the
// two.
func (l *channelListener) pop() {
	defer close(l.nextCh)
	defer func() { l.pendingNotifications = buffer.TypedRingGrowing[Notification]{} }()
	var nextCh chan Notification // nil while there is nothing to send: then select never takes that case
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
			nextCh, next = nil, Notification{} // for the garbage collector
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
	if n.Kind != Synced {
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
		close(l.done)      // before the lock: Distribute may hold it while it waits for pop
		l.batch.Store(nil) // the goroutine of Next may still use the batch, and keeps it
		l.fanout.mu.Lock()
		delete(l.fanout.listeners, l)
		l.fanout.mu.Unlock()
	})
	for range l.nextCh { // until pop has ended
	}
}
