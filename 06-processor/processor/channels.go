// As in client-go: each listener has two channels and a buffer between them.

package processor

import (
	"sync"
	"sync/atomic"
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
		in:     make(chan Notification),
		out:    make(chan Notification),
		closed: make(chan struct{}),
	}
	l.hand.Store(new([1]Notification))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listeners[l] = true
	go l.pump()
	return l
}

// A channelListener has an add side, in, that is always ready, and a run side,
// out, that is ready when the handler is. What the handler has not taken yet is
// in the buffer.
type channelListener struct {
	fanout  *channels
	in, out chan Notification // neither has a buffer
	buffer  ring              // the pump's own
	waiting atomic.Int64
	hand    atomic.Pointer[[1]Notification] // what Next returned; nil when it is closed
	closed  chan struct{}
	once    sync.Once
}

// add is the add side: it waits for the pump, and for nothing else.
func (l *channelListener) add(n Notification) {
	if n.Kind != synced {
		l.waiting.Add(1)
	}
	select {
	case l.in <- n:
	case <-l.closed:
	}
}

// pump moves notifications from in to out. It never waits for one of the two
// alone: that is what the buffer is for.
func (l *channelListener) pump() {
	defer close(l.out)
	defer func() { l.buffer = ring{} }()
	var out chan Notification // nil while there is nothing to send: that case never happens
	var next Notification
	for {
		if out == nil && l.buffer.count > 0 {
			out, next = l.out, l.buffer.pop()
		}
		select {
		case n := <-l.in:
			l.buffer.push(n)
		case out <- next:
			out, next = nil, Notification{} // or it would keep its objects alive
		case <-l.closed:
			return
		}
	}
}

// Next is the run side.
func (l *channelListener) Next() []Notification {
	hand := l.hand.Load()
	if hand == nil {
		return nil
	}
	hand[0] = Notification{}
	n, ok := <-l.out
	if !ok {
		return nil
	}
	if n.Kind != synced {
		l.waiting.Add(-1)
	}
	hand[0] = n
	return hand[:]
}

func (l *channelListener) Waiting() int {
	select {
	case <-l.closed:
		return 0
	default:
		return int(l.waiting.Load())
	}
}

func (l *channelListener) Close() {
	l.once.Do(func() {
		close(l.closed)   // first of all: Distribute may be waiting for the pump, with the lock
		l.hand.Store(nil) // it is now the reader's alone, who may still look at it
		l.fanout.mu.Lock()
		delete(l.fanout.listeners, l)
		l.fanout.mu.Unlock()
	})
	for range l.out { // until the pump has ended
	}
}
