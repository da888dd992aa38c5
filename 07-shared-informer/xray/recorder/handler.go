// The state of a handler.

package recorder

import (
	"slices"
	"time"
)

const maxCalls = 50 // of each handler

// foldPause is the shortest time between two captions about the folding of one handler.
const foldPause = time.Minute

// A Call is a call of a handler that has returned.
type Call struct {
	Change string  `json:"change"`
	Key    string  `json:"key"`
	Time   int64   `json:"time"` // Unix milliseconds
	TookMs float64 `json:"tookMs"`
}

// A handlerState is a handler of one implementation: its calls, and the notifications that wait for
// it.
type handlerState struct {
	handlerCounts
	last []Call // the newest first, at most maxCalls

	// The notifications that wait are the sum of these three.
	initial  int // initial adds that are still to come from the snapshot of the store
	reported int // notifications that waited when the handler last reported
	appended int // notifications since that report

	fromSnapshot bool // the last call was an initial add from the snapshot

	farBehind   bool          // the backlog was folded, and has not been empty since
	atFirstFold handlerCounts // the counts when that began
	caughtUp    bool          // the last call emptied such a backlog

	explainFold     bool      // a caption is due about the last fold
	lastFoldCaption time.Time // when the last such caption was due
}

type handlerCounts struct {
	calls  int
	folded int // notifications that folding has removed
}

func (h *handlerState) waiting() int { return h.initial + h.reported + h.appended }

// call applies a call that has returned. After it, waiting notifications are there besides the
// initial adds.
func (h *handlerState) call(e *event, waiting int) {
	h.reported, h.appended = waiting, 0
	h.fromSnapshot = e.Initial && h.initial > 0
	if h.fromSnapshot {
		h.initial--
	}
	h.calls++
	h.last = slices.Insert(h.last, 0, Call{
		Change: e.change(), Key: e.Key, Time: e.time.UnixMilli(), TookMs: float64(e.Took.Microseconds()) / 1000,
	})
	h.last = h.last[:min(len(h.last), maxCalls)]
	h.caughtUp = h.farBehind && h.waiting() == 0
	if h.caughtUp {
		h.farBehind = false
	}
}

// fold applies the folding of a backlog.
func (h *handlerState) fold(e *event) {
	// The event does not count the notifications that the handler has taken out already and works
	// on.
	h.reported, h.appended = max(e.Waiting, h.reported+h.appended-e.Count), 0
	if !h.farBehind {
		h.farBehind, h.atFirstFold = true, h.handlerCounts
	}
	h.folded += e.Count
	h.explainFold = e.time.Sub(h.lastFoldCaption) >= foldPause
	if h.explainFold {
		h.lastFoldCaption = e.time
	}
}

// A handlerView is a handler as the page shows it. For a handler of client-go's informer, Folded
// and At mean nothing: that informer does not fold, and has no journal.
type handlerView struct {
	Name    string `json:"name"`
	Speed   Speed  `json:"speed"`
	Calls   int    `json:"calls"`
	Waiting int    `json:"waiting"`
	Folded  int    `json:"folded"`
	At      int    `json:"at"` // how far it has read in the journal
	Last    *Call  `json:"last"`
}

func (h *handlerState) station(name string, speed Speed, journalEnd int) handlerView {
	s := handlerView{
		Name: name, Speed: speed, Calls: h.calls, Waiting: h.waiting(), Folded: h.folded,
		At: max(0, journalEnd-h.waiting()),
	}
	if len(h.last) > 0 {
		s.Last = &h.last[0]
	}
	return s
}
