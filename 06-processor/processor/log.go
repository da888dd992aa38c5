// Our fan-out: one log for all listeners, and a cursor for each.

package processor

import (
	"runtime"
	"sync"

	"example.com/informer/03-reflector/observer"
)

const (
	chunkSize = 256 // the largest size of a chunk
	smallSize = 16  // the size of the first chunk after a quiet time; the next chunks double it

	// defaultPatience is how many notifications a listener may be behind, besides two for each
	// object, before its backlog is folded.
	defaultPatience = 16384

	// foldAtOnce is the number of chunks that are folded for a listener at a time. Distribute and the
	// other listeners wait meanwhile.
	foldAtOnce = 8
)

// A Log is a list of chunks. Distribute writes at its end, the tail. Each listener has a place in the
// list, its cursor. No chunk points back to an earlier one: a chunk that every cursor has passed is
// garbage.
//
//	  garbage                                    tail
//	┌─────────┐ next ┌─────────┐ next ┌─────────┬──────┐
//	│ a b c d │ ───▶ │ e f g h │ ───▶ │ i j k   │ room │ ◀── Distribute
//	└─────────┘      └─────────┘      └─────────┴──────┘
//	                      ▲                   ▲
//	                    cursor             cursor
//	                 has read e, f      has caught up
//
// A cursor that is too far behind does not keep e to k alive. The notifications that it has not read are
// folded into its backlog, and the cursor moves to the end.
type Log struct {
	mu       sync.Mutex
	grown    sync.Cond // with mu; signals a new notification, or a cursor that was closed
	tail     *chunk
	objects  int // the adds minus the deletes so far
	patience int
	syncedAt int // the number of notifications before the end of the initial list; -1 before that end
	cursors  map[*cursor]bool
	caughtUp int               // the number of cursors that have read everything
	observer observer.Observer // may be nil
}

// A chunk is a piece of the log. Items are appended under the lock of the log, and never change after
// that. So an item can be read without the lock.
type chunk struct {
	first int // the number of notifications before this chunk
	items []Notification
	next  *chunk // nil in the tail
}

// NewLog returns a Fanout that writes each notification once for all listeners, and wakes those that
// wait. A listener that is too far behind (see SetPatience) does not keep the log alive: its
// notifications are folded into one change for each object.
func NewLog() *Log {
	l := &Log{tail: newChunk(0, chunkSize), patience: defaultPatience, syncedAt: -1, cursors: map[*cursor]bool{}}
	l.grown.L = &l.mu
	return l
}

func newChunk(first, size int) *chunk {
	return &chunk{first: first, items: make([]Notification, 0, size)}
}

// SetPatience sets how many notifications a listener can be behind, besides two for each object, before
// its backlog is folded. With math.MaxInt it is never folded. A negative number counts as 0. Default:
// 16,384.
func (l *Log) SetPatience(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patience = max(n, 0)
}

// SetObserver sets the observer. The observer gets the size of the tail, and of each new chunk.
func (l *Log) SetObserver(o observer.Observer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observer = o
	l.setTail(l.tail)
}

// Distribute implements Fanout.
func (l *Log) Distribute(n Notification) {
	defer l.grown.Broadcast() // after the unlock
	l.mu.Lock()
	defer l.mu.Unlock() // deferred: the observer may panic
	switch n.Kind {
	case Added:
		l.objects++
	case Deleted:
		l.objects--
	}
	if len(l.cursors) > 0 { // without a cursor, nobody will ever read it
		l.append(n)
	}
}

func (l *Log) append(n Notification) {
	if len(l.tail.items) == cap(l.tail.items) {
		l.startChunk()
	}
	if n.Kind == synced {
		l.syncedAt = l.end()
	}
	l.tail.items = append(l.tail.items, n)
	l.caughtUp = 0
}

// startChunk makes a new tail. It also folds for the listeners that would keep too many old chunks alive.
// To look for them here, and not at each notification, costs next to nothing.
func (l *Log) startChunk() {
	next := newChunk(l.end(), min(2*cap(l.tail.items), chunkSize))
	l.tail.next = next
	l.setTail(next)
	for c := range l.cursors {
		if c.folding || c.behind()-2*l.objects > l.patience { // a sum could overflow
			c.fold()
		}
	}
}

func (l *Log) setTail(tail *chunk) {
	l.tail = tail
	if l.observer != nil {
		l.observer.Observe(observer.Event{Kind: observer.Chunk, Count: cap(tail.items)})
	}
}

// dropTail drops a tail that all cursors have read. In a quiet time, the tail would keep objects alive
// that were delivered long ago.
func (l *Log) dropTail() {
	l.setTail(newChunk(l.end(), smallSize))
	for c := range l.cursors {
		c.chunk, c.offset = l.tail, 0
	}
}

// end is the number of all notifications so far.
func (l *Log) end() int { return l.tail.first + len(l.tail.items) }

// Listen implements Fanout.
func (l *Log) Listen(folded func(saved, waiting int)) Listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &cursor{log: l, folded: folded}
	c.moveTo(l.tail, len(l.tail.items))
	l.cursors[c] = true
	return c
}

// A cursor is the place of one listener in the log. The lock of the log guards all fields.
type cursor struct {
	log     *Log
	chunk   *chunk  // nil when the cursor is closed
	offset  int     // of the first unread item in the chunk
	backlog backlog // is delivered before the unread items
	folding bool    // new chunks are folded into the backlog, until the backlog is empty
	folded  func(saved, waiting int)
}

// moveTo moves the cursor forward, and counts it if it has read everything then.
func (c *cursor) moveTo(chunk *chunk, offset int) {
	c.chunk, c.offset = chunk, offset
	if c.behind() == 0 {
		c.log.caughtUp++
	}
}

// Next returns the backlog, one object at a time, and then the unread items of one chunk.
func (c *cursor) Next() []Notification {
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	yielded := false // whether other goroutines have had a chance to write
	for c.chunk != nil {
		if changes := c.backlog.pop(); changes != nil {
			return changes
		}
		c.folding = false
		if c.offset == len(c.chunk.items) && c.chunk.next != nil {
			c.chunk, c.offset = c.chunk.next, 0
		}
		if end := len(c.chunk.items); c.offset < end {
			unread := c.chunk.items[c.offset:end:end] // without room to append: that room is the log's
			c.moveTo(c.chunk, end)
			return unread
		}
		if !yielded { // to let the others run and look once more is cheaper than to be woken
			yielded = true
			l.mu.Unlock()
			runtime.Gosched()
			l.mu.Lock()
			continue
		}
		if l.caughtUp == len(l.cursors) && len(l.tail.items) >= smallSize {
			l.dropTail()
		}
		l.grown.Wait()
	}
	return nil
}

// fold moves the unread items to the backlog, the oldest first, and moves the cursor behind them.
func (c *cursor) fold() {
	c.folding = true
	saved := c.backlog.size()
	for range foldAtOnce {
		for _, n := range c.chunk.items[c.offset:] {
			if !n.isNotFor(c) {
				c.backlog.fold(n)
				saved++
			}
		}
		if c.chunk.next == nil {
			c.moveTo(c.chunk, len(c.chunk.items))
			break
		}
		c.chunk, c.offset = c.chunk.next, 0
	}
	saved -= c.backlog.size()
	if c.folded != nil && saved > 0 {
		c.folded(saved, c.waiting())
	}
}

// behind is the number of unread items.
func (c *cursor) behind() int { return c.log.end() - c.chunk.first - c.offset }

// Waiting implements Listener.
func (c *cursor) Waiting() int {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.chunk == nil {
		return 0
	}
	return c.waiting()
}

// waiting is the number of calls that the handler has not had yet. The end of the initial list is not a
// call. It has no key.
func (c *cursor) waiting() int {
	waiting := c.backlog.size() + c.behind()
	if c.log.syncedAt >= c.chunk.first+c.offset || c.backlog.contains("") {
		waiting--
	}
	return waiting
}

// Close implements Listener.
func (c *cursor) Close() {
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if c.chunk == nil {
		return // the cursor was closed before
	}
	if c.behind() == 0 {
		l.caughtUp--
	}
	delete(l.cursors, c)
	c.chunk, c.backlog = nil, backlog{}
	if l.caughtUp == len(l.cursors) { // nobody else has unread items
		l.dropTail()
	}
	l.grown.Broadcast()
}
