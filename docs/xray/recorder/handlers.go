// The state of the journal and of the handlers, which get their notifications from there, and of
// client-go's informer, which has no observer: its source reports what passes.

package recorder

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/03-reflector/observer"
)

const (
	maxShownChunks = 8
	maxCalls       = 50 // of each handler

	// foldPause is the shortest time between two captions about the folding of one handler.
	foldPause = time.Minute
)

// A journalState counts notifications. It has the last chunks.
type journalState struct {
	end    int // how many notifications were ever appended
	chunks []chunk
}

// A chunk is a piece of the journal.
type chunk struct {
	First int `json:"first"` // the position of its first notification
	Size  int `json:"size"`
	Used  int `json:"used"`
}

// addNotification applies a notification that was appended to the last chunk.
func (j *journalState) addNotification() {
	j.end++
	if n := len(j.chunks); n > 0 {
		j.chunks[n-1].Used++
	}
}

// addChunk applies a new chunk. The journal reports a chunk after the notification that needed it.
// addNotification has counted that notification in the chunk before, which was full.
func (j *journalState) addChunk(size int) {
	added := chunk{First: j.end, Size: size}
	if n := len(j.chunks); n > 0 {
		last := &j.chunks[n-1]
		switch {
		case last.Used == 0:
			j.chunks = j.chunks[:n-1]
		case last.Used > last.Size:
			last.Used--
			added.First, added.Used = j.end-1, 1
		}
	}
	j.chunks = append(j.chunks, added)
	j.chunks = j.chunks[max(0, len(j.chunks)-maxShownChunks):]
}

// A journalView is the journal as the page shows it.
type journalView struct {
	End    int     `json:"end"`
	Chunks []chunk `json:"chunks"`
}

func (j *journalState) station() journalView { return journalView{End: j.end, Chunks: j.chunks} }

// A Speed says how long a handler takes for a call.
type Speed string

const (
	Fast    Speed = "fast"    // a call returns immediately
	Slow    Speed = "slow"    // a call takes SlowCall
	Stalled Speed = "stalled" // a call does not return until the speed changes
)

// SlowCall is how long a slow handler takes for a call.
const SlowCall = 200 * time.Millisecond

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
	initial  int // initial adds that are still to come from the store
	reported int // notifications that waited when the handler last reported
	appended int // notifications since that report

	fromStore bool // the last call was an initial add from the store, past the journal

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
func (h *handlerState) call(e HandlerCalled, at time.Time, waiting int) {
	h.reported, h.appended = waiting, 0
	h.fromStore = e.Change.Initial && h.initial > 0
	if h.fromStore {
		h.initial--
	}
	h.calls++
	h.last = slices.Insert(h.last, 0, Call{
		Change: changeWord(&e.Change), Key: e.Change.Key, Time: at.UnixMilli(),
		TookMs: float64(e.Took.Microseconds()) / 1000,
	})
	h.last = h.last[:min(len(h.last), maxCalls)]
	h.caughtUp = h.farBehind && h.waiting() == 0
	if h.caughtUp {
		h.farBehind = false
	}
}

// fold applies the folding of a backlog.
func (h *handlerState) fold(e handlerFolded, at time.Time) {
	// The event does not count the notifications that the handler has taken out already and works
	// on.
	h.reported, h.appended = max(e.waiting, h.reported+h.appended-e.saved), 0
	if !h.farBehind {
		h.farBehind, h.atFirstFold = true, h.handlerCounts
	}
	h.folded += e.saved
	h.explainFold = at.Sub(h.lastFoldCaption) >= foldPause
	if h.explainFold {
		h.lastFoldCaption = at
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

// A clientGoState follows what client-go's informer receives.
type clientGoState struct {
	received int              // objects of lists, and events
	known    sets.Set[string] // the keys in its store
	listed   sets.Set[string] // the keys of a list that is not complete yet
}

func newClientGoState() clientGoState {
	return clientGoState{known: sets.New[string](), listed: sets.New[string]()}
}

// receive applies an event of the source. It returns how many notifications each handler gets
// because of it.
func (c *clientGoState) receive(what any) (notifications int) {
	switch what := what.(type) {
	case observer.Listing:
		clear(c.listed)
	case ListReceived:
		c.received++
		c.listed.Insert(what.Key) // the handlers get the list when it is complete
	case observer.Received:
		c.received++
		if what.Type == watch.Deleted {
			c.known.Delete(what.Key)
		} else {
			c.known.Insert(what.Key)
		}
		return 1
	case observer.Listed:
		// A handler gets each object of the list, and a tombstone for each known object that the
		// list lacks.
		notifications = c.listed.Union(c.known).Len()
		c.known, c.listed = c.listed, sets.New[string]()
	}
	return notifications
}

// A clientGoView is client-go's informer as the page shows it.
type clientGoView struct {
	Received int `json:"received"`
	Objects  int `json:"objects"`
}

func (c *clientGoState) station() clientGoView {
	return clientGoView{Received: c.received, Objects: c.known.Len()}
}
