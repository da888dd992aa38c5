// The state of one handler.

package recorder

import (
	"slices"
	"time"
)

const keptCalls = 50

// A handler is how many calls it has had, and how its backlog is counted.
type handler struct {
	calls     int
	last      []fields // calls, the newest first
	folded    int
	base      int                         // what waited when it was last known
	since     int                         // what was appended since then
	initial   int                         // what it still has to get of the snapshot that it joined with
	snapshot  bool                        // its last call was of that snapshot
	mentioned time.Time                   // when a caption was last about its folding
	behind    bool                        // its backlog was folded, and is not empty yet
	before    struct{ calls, folded int } // what it had before that
	caughtUp  bool                        // this event has emptied it
}

func (h *handler) waiting() int { return h.initial + h.base + h.since }

// call takes a call into account, after which so many notifications wait besides
// those of the snapshot.
func (h *handler) call(e *event, waiting int) {
	h.base, h.since = waiting, 0
	if h.snapshot = e.Initial && h.initial > 0; h.snapshot {
		h.initial--
	}
	h.calls++
	h.last = slices.Insert(h.last, 0, fields{"time": e.at.UnixMilli(), "key": e.Key, "change": e.change(),
		"tookMs": float64(e.Took.Microseconds()) / 1000})
	h.last = h.last[:min(len(h.last), keptCalls)]
	h.caughtUp = h.behind && h.waiting() == 0
	h.behind = h.behind && !h.caughtUp
}

func (h *handler) fold(e *event) {
	// Its Waiting does not count what the handler has taken at once, and has in hand.
	h.base, h.since = max(e.Waiting, h.base+h.since-e.Count), 0
	if !h.behind {
		h.behind, h.before.calls, h.before.folded = true, h.calls, h.folded
	}
	h.folded += e.Count
}

// station is the handler as it is shown. In client-go's lane nothing is folded, and there
// is no log in which it has come to a place.
func (h *handler) station(name, pace string, end int) fields {
	shown := fields{"name": name, "pace": pace, "calls": h.calls, "waiting": h.waiting(), "folded": h.folded,
		"at": max(0, end-h.waiting()), "last": nil}
	if len(h.last) > 0 {
		shown["last"] = h.last[0]
	}
	return shown
}
