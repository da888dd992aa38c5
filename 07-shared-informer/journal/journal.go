// Package journal is our fan-out: one journal for all listeners, and a cursor for each.
package journal

import (
	"runtime"
	"sync"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

const (
	chunkSize = 256 // the largest size of a chunk
	smallSize = 16  // the size of the first chunk after a quiet time; the next chunks double it

	// defaultPatience is how many notifications a listener may be behind, besides two for each
	// object, before its backlog is folded.
	defaultPatience = 16384

	// foldAtOnce is the number of chunks that are folded for a listener at a time. Distribute and
	// the other listeners wait meanwhile.
	foldAtOnce = 8
)

// A Journal is a list of chunks. Distribute writes at its end, the tail. Each listener has a place
// in the list, its cursor. No chunk points back to an earlier one: a chunk that every cursor has
// passed is garbage.
//
//	  garbage                                    tail
//	┌─────────┐ next ┌─────────┐ next ┌─────────┬──────┐
//	│ a b c d │ ───▶ │ e f g h │ ───▶ │ i j k   │ room │ ◀── Distribute
//	└─────────┘      └─────────┘      └─────────┴──────┘
//	                      ▲                   ▲
//	                    cursor             cursor
//	                 has read e, f      has caught up
//
// A cursor that is too far behind does not keep e to k alive. The notifications that it has not
// read are folded into its backlog, and the cursor moves to the end.
type Journal struct {
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

// A chunk is a piece of the journal. Items are appended under the lock of the journal, and never
// change after that. So an item can be read without the lock.
type chunk struct {
	first int // the number of notifications before this chunk
	items []processor.Notification
	next  *chunk // nil in the tail
}

// New returns a Fanout that writes each notification once for all listeners, and wakes those that
// wait. A listener that is too far behind (see SetPatience) does not keep the journal alive: its
// notifications are folded into one change for each object.
func New() *Journal {
	j := &Journal{tail: newChunk(0, chunkSize), patience: defaultPatience, syncedAt: -1, cursors: map[*cursor]bool{}}
	j.grown.L = &j.mu
	return j
}

func newChunk(first, size int) *chunk {
	return &chunk{first: first, items: make([]processor.Notification, 0, size)}
}

// SetPatience sets how many notifications a listener can be behind, besides two for each object,
// before its backlog is folded. With math.MaxInt it is never folded. A negative number counts as 0.
// Default: 16,384.
func (j *Journal) SetPatience(n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.patience = max(n, 0)
}

// The events that a Journal reports to its observer.
type (
	// ChunkStarted: a new chunk was made. Size is the number of notifications that fit into it.
	ChunkStarted struct{ Size int }

	// Folded: a handler that is far behind gets fewer notifications.
	Folded struct {
		Registration *processor.Registration // of the handler; nil if Listen got none
		Saved        int                     // how many notifications this has removed
		Waiting      int                     // how many wait now
	}
)

// SetObserver sets the observer. It gets an event for the tail, too.
func (j *Journal) SetObserver(o observer.Observer) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.observer = o
	j.setTail(j.tail)
}

// Distribute implements processor.Fanout.
func (j *Journal) Distribute(n processor.Notification) {
	defer j.grown.Broadcast() // after the unlock
	j.mu.Lock()
	defer j.mu.Unlock() // deferred: the observer may panic
	switch n.Kind {
	case processor.Added:
		j.objects++
	case processor.Deleted:
		j.objects--
	}
	if len(j.cursors) > 0 { // without a cursor, nobody will ever read it
		j.append(n)
	}
}

func (j *Journal) append(n processor.Notification) {
	if len(j.tail.items) == cap(j.tail.items) {
		j.startChunk()
	}
	if n.Kind == processor.Synced {
		j.syncedAt = j.end()
	}
	j.tail.items = append(j.tail.items, n)
	j.caughtUp = 0
}

// startChunk makes a new tail. It also folds for the listeners that would keep too many old chunks
// alive. To look for them here, and not at each notification, costs next to nothing.
func (j *Journal) startChunk() {
	next := newChunk(j.end(), min(2*cap(j.tail.items), chunkSize))
	j.tail.next = next
	j.setTail(next)
	for c := range j.cursors {
		if c.folding || c.behind()-2*j.objects > j.patience { // a sum could overflow
			c.fold()
		}
	}
}

func (j *Journal) setTail(tail *chunk) {
	j.tail = tail
	if j.observer != nil {
		j.observer.Observe(ChunkStarted{Size: cap(tail.items)})
	}
}

// dropTail drops a tail that all cursors have read. In a quiet time, the tail would keep objects
// alive that were delivered long ago.
func (j *Journal) dropTail() {
	j.setTail(newChunk(j.end(), smallSize))
	for c := range j.cursors {
		c.chunk, c.offset = j.tail, 0
	}
}

// end is the number of all notifications so far.
func (j *Journal) end() int { return j.tail.first + len(j.tail.items) }

// Listen implements processor.Fanout.
func (j *Journal) Listen(handler *processor.Registration) processor.Listener {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := &cursor{journal: j, handler: handler}
	c.moveTo(j.tail, len(j.tail.items))
	j.cursors[c] = true
	return c
}

// A cursor is the place of one listener in the journal. The lock of the journal guards all fields.
type cursor struct {
	journal *Journal
	chunk   *chunk                  // nil when the cursor is closed
	offset  int                     // of the first unread item in the chunk
	backlog backlog                 // is delivered before the unread items
	folding bool                    // new chunks are folded into the backlog, until the backlog is empty
	handler *processor.Registration // whose listener it is; may be nil
}

// moveTo moves the cursor forward, and counts it if it has read everything then.
func (c *cursor) moveTo(chunk *chunk, offset int) {
	c.chunk, c.offset = chunk, offset
	if c.behind() == 0 {
		c.journal.caughtUp++
	}
}

// Next returns the backlog, one object at a time, and then the unread items of one chunk.
func (c *cursor) Next() []processor.Notification {
	j := c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
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
			unread := c.chunk.items[c.offset:end:end] // without room to append: that room is the journal's
			c.moveTo(c.chunk, end)
			return unread
		}
		if !yielded { // to let the others run and look once more is cheaper than to be woken
			yielded = true
			j.mu.Unlock()
			runtime.Gosched()
			j.mu.Lock()
			continue
		}
		if j.caughtUp == len(j.cursors) && len(j.tail.items) >= smallSize {
			j.dropTail()
		}
		j.grown.Wait()
	}
	return nil
}

// fold moves the unread items to the backlog, the oldest first, and moves the cursor behind them.
func (c *cursor) fold() {
	c.folding = true
	saved := c.backlog.size()
	for range foldAtOnce {
		for _, n := range c.chunk.items[c.offset:] {
			if !n.IsNotFor(c) {
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
	if c.journal.observer != nil && saved > 0 {
		c.journal.observer.Observe(Folded{c.handler, saved, c.waiting()})
	}
}

// behind is the number of unread items.
func (c *cursor) behind() int { return c.journal.end() - c.chunk.first - c.offset }

// Waiting implements processor.Listener.
func (c *cursor) Waiting() int {
	c.journal.mu.Lock()
	defer c.journal.mu.Unlock()
	if c.chunk == nil {
		return 0
	}
	return c.waiting()
}

// waiting is the number of calls that the handler has not had yet. The end of the initial list is
// not a call. It has no key.
func (c *cursor) waiting() int {
	waiting := c.backlog.size() + c.behind()
	if c.journal.syncedAt >= c.chunk.first+c.offset || c.backlog.contains("") {
		waiting--
	}
	return waiting
}

// Close implements processor.Listener.
func (c *cursor) Close() {
	j := c.journal
	j.mu.Lock()
	defer j.mu.Unlock()
	if c.chunk == nil {
		return // the cursor was closed before
	}
	if c.behind() == 0 {
		j.caughtUp--
	}
	delete(j.cursors, c)
	c.chunk, c.backlog = nil, backlog{}
	if j.caughtUp == len(j.cursors) { // nobody else has unread items
		j.dropTail()
	}
	j.grown.Broadcast()
}
