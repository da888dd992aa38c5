// Our design: one log for all listeners, and a cursor for each.

package processor

import (
	"runtime"
	"sync"

	"example.com/informer/03-reflector/observer"
)

const (
	chunkSize = 256 // of a chunk when there is much to write
	smallSize = 16  // of one that is begun when all is quiet; from there on they double

	// defaultPatience is how far a listener may fall behind, whatever the number
	// of objects, before its backlog is folded.
	defaultPatience = 16384

	// foldAtOnce is how many chunks are folded for a listener at a time.
	// Distribute and the other listeners wait meanwhile.
	foldAtOnce = 8
)

// A Log is a list of chunks that is written at one end, the tail. A listener has a
// place in it, its cursor. Nothing points back: what every cursor has passed is
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
// A cursor that is too far behind does not keep e to k alive. What it has missed is
// folded into its backlog, and the cursor moves to the end.
type Log struct {
	mu       sync.Mutex
	grown    sync.Cond // with mu: there is more to read, or a cursor was closed
	tail     *chunk
	objects  int // how many there are, by what was added and deleted
	patience int
	syncedAt int // where the end of the initial list is; -1 if it was not written
	cursors  map[*cursor]bool
	caughtUp int               // how many cursors are at the end
	observer observer.Observer // or nil
}

// A chunk is a piece of the log. Its items are appended under the log's lock
// and never change: what was seen under the lock can be read without it.
type chunk struct {
	first int // how many notifications came before this chunk
	items []Notification
	next  *chunk // nil in the tail
}

// NewLog returns a Fanout that writes each notification once, however many
// listeners there are, and wakes those that wait. A listener that falls behind by
// more than there are objects, twice over, no longer keeps the log alive: what
// it has missed is folded, into one change for each object.
func NewLog() *Log {
	l := &Log{tail: newChunk(0, chunkSize), patience: defaultPatience, syncedAt: -1, cursors: map[*cursor]bool{}}
	l.grown.L = &l.mu
	return l
}

func newChunk(first, size int) *chunk {
	return &chunk{first: first, items: make([]Notification, 0, size)}
}

// SetPatience sets how many notifications a listener can be behind, besides two for
// each object, before its backlog is folded; with math.MaxInt it never is. Less than
// 0 counts as 0. Default: 16,384.
func (l *Log) SetPatience(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patience = max(n, 0)
}

// SetObserver sets the observer. It gets the size of the present chunk, and of each
// new one.
func (l *Log) SetObserver(o observer.Observer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.observer = o
	l.setTail(l.tail)
}

// Distribute implements Fanout.
func (l *Log) Distribute(n Notification) {
	defer l.grown.Broadcast()
	l.mu.Lock()
	defer l.mu.Unlock() // even if the observer panics
	switch n.Kind {
	case Added:
		l.objects++
	case Deleted:
		l.objects--
	}
	if len(l.cursors) > 0 { // else nobody will ever read it
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

// startChunk also looks for listeners that would keep the old chunks alive. It
// looks here, and not at each notification, so that it costs listeners that keep
// up next to nothing.
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

// dropTail drops a tail that all cursors have read: while nothing happens, it would
// keep alive what was delivered long ago.
func (l *Log) dropTail() {
	l.setTail(newChunk(l.end(), smallSize))
	for c := range l.cursors {
		c.chunk, c.at = l.tail, 0
	}
}

// end is how many notifications there were, ever.
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

// A cursor is one listener's place in the log. All of it is guarded by the
// log's lock.
type cursor struct {
	log     *Log
	chunk   *chunk  // nil when it is closed
	at      int     // in the chunk: the first item that is not read
	backlog backlog // comes before what is unread
	folding bool    // it is far behind: what is written goes to the backlog, until that is empty
	folded  func(saved, waiting int)
}

func (c *cursor) moveTo(chunk *chunk, at int) {
	if c.chunk, c.at = chunk, at; c.behind() == 0 {
		c.log.caughtUp++
	}
}

// Next returns the backlog, one object at a time, then what is unread of one
// chunk.
func (c *cursor) Next() []Notification {
	l := c.log
	l.mu.Lock()
	defer l.mu.Unlock()
	for looked := false; c.chunk != nil; looked = true {
		if changes := c.backlog.pop(); changes != nil {
			return changes
		}
		c.folding = false
		if c.at == len(c.chunk.items) && c.chunk.next != nil {
			c.chunk, c.at = c.chunk.next, 0
		}
		if end := len(c.chunk.items); c.at < end {
			unread := c.chunk.items[c.at:end:end] // no room to append to: that is the log's
			c.moveTo(c.chunk, end)
			return unread
		}
		if !looked { // to look once more, when others have had their turn, is cheaper than to be woken
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

// fold moves what is unread to the backlog, the oldest first, and the cursor
// behind it.
func (c *cursor) fold() {
	c.folding = true
	saved := c.backlog.size()
	for range foldAtOnce {
		for _, n := range c.chunk.items[c.at:] {
			if !n.isNotFor(c) {
				c.backlog.fold(n)
				saved++
			}
		}
		if c.chunk.next == nil {
			c.moveTo(c.chunk, len(c.chunk.items))
			break
		}
		c.chunk, c.at = c.chunk.next, 0
	}
	if saved -= c.backlog.size(); c.folded != nil && saved > 0 {
		c.folded(saved, c.waiting())
	}
}

// behind is how many notifications of the log are unread.
func (c *cursor) behind() int { return c.log.end() - c.chunk.first - c.at }

// Waiting implements Listener.
func (c *cursor) Waiting() int {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.chunk == nil {
		return 0
	}
	return c.waiting()
}

// waiting does not count the end of the initial list, which has no key, and is no call.
func (c *cursor) waiting() int {
	waiting := c.backlog.size() + c.behind()
	if c.log.syncedAt >= c.chunk.first+c.at || c.backlog.has("") {
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
		return // it was closed before
	}
	if c.behind() == 0 {
		l.caughtUp--
	}
	delete(l.cursors, c)
	c.chunk, c.backlog = nil, backlog{}
	if l.caughtUp == len(l.cursors) { // it was the only one with something to read, or the last of all
		l.dropTail()
	}
	l.grown.Broadcast()
}
