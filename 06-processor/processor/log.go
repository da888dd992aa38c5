// Our design: one log for all listeners, and a cursor for each.

package processor

import (
	"runtime"
	"slices"
	"sync"
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

// A log is a list of chunks that is written at one end. A listener has a place
// in it, its cursor. Nothing points back: what every cursor has passed is
// garbage.
type log struct {
	mu       sync.Mutex
	grown    sync.Cond // with mu: there is more to read, or a cursor was closed
	tail     *chunk
	live     int // how many objects there are, by what was added and deleted
	patience int
	cursors  map[*cursor]bool
	resting  int            // how many cursors have read all that there is, and wait for more
	begun    func(size int) // is called with the size of each new chunk; nil if nobody asks
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
	l := &log{tail: newChunk(0, chunkSize), patience: defaultPatience, cursors: map[*cursor]bool{}}
	l.grown.L = &l.mu
	return l
}

func newChunk(first, size int) *chunk {
	return &chunk{first: first, items: make([]Notification, 0, size)}
}

func (l *log) Distribute(n Notification) {
	l.mu.Lock()
	switch n.Kind {
	case Added:
		l.live++
	case Deleted:
		l.live--
	}
	if len(l.cursors) > 0 { // else nobody will ever read it
		l.append(n)
	}
	l.mu.Unlock()
	l.grown.Broadcast()
}

func (l *log) append(n Notification) {
	if len(l.tail.items) == cap(l.tail.items) {
		l.startChunk()
	}
	l.tail.items = append(l.tail.items, n)
	l.resting = 0
	if n.Kind == synced {
		for c := range l.cursors {
			c.marked = true
		}
	}
}

// startChunk also looks for listeners that would keep the old chunks alive. It
// looks here, and not at each notification, so that it costs listeners that keep
// up next to nothing.
func (l *log) startChunk() {
	next := newChunk(l.end(), min(2*cap(l.tail.items), chunkSize))
	l.tail.next = next
	l.begin(next)
	for c := range l.cursors {
		if c.folding || c.behind()-2*l.live > l.patience { // a sum could overflow
			c.fold()
		}
	}
}

// begin goes on in a chunk.
func (l *log) begin(c *chunk) {
	l.tail = c
	if l.begun != nil {
		l.begun(cap(c.items))
	}
}

// letGo drops a last chunk that all cursors have read: while nothing happens, it
// would keep alive what was delivered long ago.
func (l *log) letGo() {
	l.begin(newChunk(l.end(), smallSize))
	for c := range l.cursors {
		c.chunk, c.at = l.tail, 0
	}
}

// end is how many notifications there were, ever.
func (l *log) end() int { return l.tail.first + len(l.tail.items) }

// observe has begun called with the size of this chunk, and of each new one.
func (l *log) observe(begun func(size int)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.begun = begun
	begun(cap(l.tail.items))
}

func (l *log) setPatience(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.patience = max(n, 0)
}

func (l *log) Listen(folded func(saved, waiting int)) Listener {
	c := &cursor{log: l, rested: -1, folded: folded}
	l.mu.Lock()
	defer l.mu.Unlock()
	c.chunk, c.at = l.tail, len(l.tail.items)
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
	folded  func(saved, waiting int)
	folding bool // it is far behind: what is written goes to the backlog, until that is empty
	marked  bool // what it has not read has the end of the initial list in it, which is no call
	rested  int  // what the end was when it last found nothing to read; -1 if never
}

// Next returns the backlog, one object at a time, then what is unread of one
// chunk.
func (c *cursor) Next() []Notification {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	for looked := false; c.chunk != nil; looked = true {
		if changes := c.backlog.pop(); changes != nil {
			return c.take(changes)
		}
		c.folding = false
		if c.at == len(c.chunk.items) && c.chunk.next != nil {
			c.chunk, c.at = c.chunk.next, 0
		}
		if end := len(c.chunk.items); c.at < end {
			unread := c.chunk.items[c.at:end:end] // no room to append to: that is the log's
			c.at = end
			return c.take(unread)
		}
		if !looked { // to look once more, when others have had their turn, is cheaper than to be woken
			c.log.mu.Unlock()
			runtime.Gosched()
			c.log.mu.Lock()
			continue
		}
		c.rest()
		c.log.grown.Wait()
	}
	return nil
}

// take is what Next has found.
func (c *cursor) take(batch []Notification) []Notification {
	if c.marked && slices.ContainsFunc(batch, func(n Notification) bool { return n.Kind == synced }) {
		c.marked = false
	}
	return batch
}

// rest is for a cursor that has read all. The last one that comes here lets the
// chunk go.
func (c *cursor) rest() {
	if c.rested == c.log.end() {
		return // it was woken for nothing
	}
	c.rested = c.log.end()
	if c.log.resting++; c.log.resting == len(c.log.cursors) && len(c.log.tail.items) >= smallSize {
		c.log.letGo()
	}
}

// fold moves what is unread to the backlog, the oldest first, and the cursor
// behind it.
func (c *cursor) fold() {
	c.folding = true
	saved := c.backlog.size()
	defer func() {
		if saved -= c.backlog.size(); c.folded != nil && saved > 0 {
			c.folded(saved, c.waiting())
		}
	}()
	for range foldAtOnce {
		for _, n := range c.chunk.items[c.at:] {
			if !n.isNotFor(c) {
				c.backlog.fold(n)
				saved++
			}
		}
		if c.at = len(c.chunk.items); c.chunk.next == nil {
			return
		}
		c.chunk, c.at = c.chunk.next, 0
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
	return c.waiting()
}

func (c *cursor) waiting() int {
	waiting := c.backlog.size() + c.behind()
	if c.marked {
		waiting--
	}
	return waiting
}

func (c *cursor) Close() {
	c.log.mu.Lock()
	defer c.log.mu.Unlock()
	if c.chunk == nil {
		return // it was closed before
	}
	if c.rested == c.log.end() {
		c.log.resting--
	}
	delete(c.log.cursors, c)
	c.chunk, c.backlog = nil, backlog{}
	if c.log.resting == len(c.log.cursors) { // it was the only one with something to read, or the last of all
		c.log.letGo()
	}
	c.log.grown.Broadcast()
}
