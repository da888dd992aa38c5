package metrics

import (
	"slices"
	"time"

	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/journal"
)

// A handler has the numbers of all handlers that have one name. Usually this is one handler.
type handler struct {
	backlogs map[*processor.Registration]*backlog

	// These are counters, which never fall: they include the handlers of this name that were
	// removed.
	calls, folded int
	busy          time.Duration
}

// A backlog belongs to one registration of a handler.
type backlog struct {
	waiting []time.Time // the arrival of each change from which the handler has not returned, the oldest first
	present int         // how many of these were in the store when the handler joined
}

// newBacklog is the backlog of a handler that joins now: it gets all objects of the store first.
func newBacklog(objects int, now time.Time) *backlog {
	return &backlog{waiting: slices.Repeat([]time.Time{now}, objects), present: objects}
}

// called notes that the handler has returned from a call.
func (h *handler) called(e processor.Called, now time.Time) {
	h.calls++
	h.busy += e.Took
	b := h.backlogs[e.Registration]
	if e.Initial && b.present > 0 {
		b.present--
	}
	if len(b.waiting) > 0 && !isResync(e.Notification) {
		b.waiting = b.waiting[1:]
	}
	if e.Waiting+b.present > 0 {
		return
	}
	// The informer has nothing more for the handler. What still waits here was folded into other
	// changes, unless it has just come.
	for len(b.waiting) > 0 && now.Sub(b.waiting[0]) > time.Second {
		b.waiting = b.waiting[1:]
	}
}

// fold notes that the informer has folded later changes into earlier ones: the backlog has e.Saved
// changes less, but not less than e.Waiting.
func (h *handler) fold(e journal.Folded) {
	h.folded += e.Saved
	b := h.backlogs[e.Registration]
	left := max(len(b.waiting)-e.Saved, min(len(b.waiting), e.Waiting))
	b.waiting = b.waiting[:left]
}

// waiting returns how many changes wait for handlers of this name, and the arrival of the oldest.
// If nothing waits, that is now.
func (h *handler) waiting(now time.Time) (count int, oldest time.Time) {
	oldest = now
	for _, b := range h.backlogs {
		count += len(b.waiting)
		if len(b.waiting) > 0 && b.waiting[0].Before(oldest) {
			oldest = b.waiting[0]
		}
	}
	return count, oldest
}

// isResync is true for an update that a resync has made: the object has not changed.
func isResync(n processor.Notification) bool { return n.Kind == processor.Updated && n.SameVersion() }
