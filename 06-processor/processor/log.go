// Our way: one log for all, and a cursor for each listener.

package processor

import "sync"

const (
	chunkSize = 256

	// patience is how far a listener may fall behind, whatever the number of
	// objects, before its backlog is folded.
	patience = 16384
)

// A log is a list of chunks that is written at one end. A listener has a place
// in it, its cursor. Nothing points back: what every cursor has passed is
// garbage.
type log struct {
	mu      sync.Mutex
	grown   sync.Cond // with mu: there is more to read, or a cursor was closed
	tail    *chunk
	live    int // how many objects there are, by what was added and deleted
	cursors map[*cursor]bool
}

// A chunk is a piece of the log. Its items are appended under the log's lock
// and never change: what was seen under the lock can be read without it.
type chunk struct {
	first int // how many notifications came before this chunk
	items []Notification
	next  *chunk // nil in the last one
}

// NewLog returns a Fanout that writes each notification once, however many
// listeners there are, and wakes those that wait. A listener that falls behind by
// more than there are objects, twice over, no longer keeps the log alive: what
// it has missed is folded, into one change for each object.
func NewLog() Fanout {
	l := &log{tail: newChunk(0), cursors: map[*cursor]bool{}}
	l.grown.L = &l.mu
	return l
}

func newChunk(first int) *chunk {
	return &chunk{first: first, items: make([]Notification, 0, chunkSize)}
}

func (l *log) Distribute(n Notification) {
	l.mu.Lock()
	switch n.Kind {
	case Added:
		l.live++
	case Deleted:
		l.live--
	}
	if len(l.tail.items) == chunkSize {
		l.startChunk()
	}
	l.tail.items = append(l.tail.items, n)
	l.mu.Unlock()
	l.grown.Broadcast()
}

// startChunk also looks for those who would keep the old chunks alive. It is
// done here, and not at each notification, to cost next to nothing.
func (l *log) startChunk() {
	next := newChunk(l.end())
	l.tail.next = next
	l.tail = next
	for c := range l.cursors {
		if c.folding || c.behind() > 2*l.live+patience {
			c.fold()
		}
	}
}

// end is how many notifications there were, ever.
func (l *log) end() int { return l.tail.first + len(l.tail.items) }

func (l *log) Listen(first []Notification) Listener {
	l.mu.Lock()
	defer l.mu.Unlock()
	c := &cursor{log: l, chunk: l.tail, at: len(l.tail.items)}
	for _, n := range first {
		c.backlog.fold(n)
	}
	l.cursors[c] = true
	return c
}

// A cursor is one listener's place in the log. All of it is guarded by the
// log's lock.
type cursor struct {
	log     *log
	chunk   *chunk // nil when it is closed
	at      int    // in the chunk: the first item that is not read
	backlog backlog
	folding bool // it is far behind: what is written goes to the backlog, until that is empty
}

// Next returns the backlog, one object at a time, then what is unread of one
// chunk.
func (c *cursor) Next() []Notification {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	for c.chunk != nil {
		if changes := c.backlog.pop(); changes != nil {
			return changes
		}
		c.folding = false
		if c.at == len(c.chunk.items) && c.chunk.next != nil {
			c.chunk, c.at = c.chunk.next, 0
		}
		if unread := c.chunk.items[c.at:]; len(unread) > 0 {
			c.at = len(c.chunk.items)
			return unread
		}
		c.log.grown.Wait()
	}
	return nil
}

// fold moves all that is unread to the backlog, and the cursor to the end.
func (c *cursor) fold() {
	c.folding = true
	for ; ; c.chunk, c.at = c.chunk.next, 0 {
		for _, n := range c.chunk.items[c.at:] {
			if !n.skip[c] {
				c.backlog.fold(n)
			}
		}
		if c.chunk.next == nil {
			c.at = len(c.chunk.items)
			return
		}
	}
}

// behind is how many notifications of the log are unread.
func (c *cursor) behind() int { return c.log.end() - c.chunk.first - c.at }

func (c *cursor) Waiting() int {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.chunk == nil {
		return 0
	}
	return c.backlog.len() + c.behind()
}

func (c *cursor) Close() {
	c.log.mu.Lock()
	delete(c.log.cursors, c)
	c.chunk, c.backlog = nil, backlog{}
	c.log.mu.Unlock()
	c.log.grown.Broadcast()
}
