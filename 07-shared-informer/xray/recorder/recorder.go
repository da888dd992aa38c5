// Package recorder records what the parts of an informer report, and those of
// client-go's beside it: the state now, and a bounded history.
package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

const (
	TickTime     = 50 * time.Millisecond
	tickRecords  = 60        // of more events than that, a sample gets records
	tickCaptions = 10        // at most, in a tick
	maxFrame     = 1_000_000 // bytes of a state and records
)

// What is kept at most.
const (
	KeptRecords = 5_000
	KeptBytes   = 30_000_000 // of records and objects; they take somewhat more memory
)

// An Object is what a record is about, before and after: in JSON, shortened.
type Object struct {
	Key    string          `json:"key"`
	Before json.RawMessage `json:"before"`
	After  json.RawMessage `json:"after"`
}

// Shown is whether there is something to show.
func (o Object) Shown() bool { return o.Before != nil || o.After != nil }

// A kept record is in JSON, too.
type kept struct {
	text json.RawMessage
	Object
}

func (k *kept) size() int { return len(k.text) + len(k.Before) + len(k.After) }

// A history numbers records from 1, and keeps the last ones, without a gap.
type history struct {
	seq   int64 // of the last one
	kept  []kept
	bytes int // the size of those
}

func (h *history) add(record fields, about Object) {
	h.seq++
	record["seq"] = h.seq
	added := kept{encode(record), about}
	h.kept = append(h.kept, added)
	h.bytes += added.size()
	for h.bytes > KeptBytes || len(h.kept) > KeptRecords {
		h.bytes -= h.kept[0].size()
		h.kept[0] = kept{} // or the array would hold its texts
		h.kept = h.kept[1:]
	}
}

// at is false if the record is no longer kept.
func (h *history) at(seq int64) (kept, bool) {
	if i := int64(len(h.kept)) - 1 - (h.seq - seq); seq <= h.seq && i >= 0 {
		return h.kept[i], true
	}
	return kept{}, false
}

// after are the last records after one, as many as there is room for, in bytes; missed is
// the number of the others.
func (h *history) after(seq int64, room int) (records []json.RawMessage, missed int64) {
	for last := h.seq; last > seq; last-- {
		record, ok := h.at(last)
		if room -= len(record.text) + 1; !ok || room < 0 {
			missed = last - seq
			break
		}
		records = append(records, record.text)
	}
	slices.Reverse(records)
	return records, missed
}

// Options are about the informer. All but the Indexers are needed.
type Options struct {
	Name, Kind string
	Namespace  string // no object of another one is shown, and no Secret
	Indexers   cache.Indexers
	Status     func() Status
}

// A Recorder records until its Run ends.
type Recorder struct {
	Options

	inbox struct { // has a lock of its own: an observer must not wait for anybody
		sync.Mutex
		events []event
		closed bool // Run has ended: nobody would take an event out
	}

	mu      sync.Mutex // guards what is below
	state   *state
	set     json.RawMessage // the stations after the last record
	history history
	more    chan struct{} // closed, and made anew, when there are more
}

// New returns a recorder that has got no event.
func New(o Options) *Recorder {
	s := newState(o)
	return &Recorder{Options: o, state: s, set: encode(s.stations()), more: make(chan struct{})}
}

// Lane is the observer of a lane.
func (r *Recorder) Lane(lane string) observer.Observer {
	return observer.Func(func(e observer.Event) {
		if _, name, ok := strings.Cut(e.Handler, " + event handler "); ok {
			e.Handler = name
		}
		r.add(event{Event: e, lane: lane})
	})
}

// RecordAction records what the user did, in words, which it returns.
func (r *Recorder) RecordAction(link, format string, args ...any) string {
	text := clip(fmt.Sprintf(format, args...))
	r.add(event{Event: observer.Event{Kind: action}, lane: Ours, caption: &caption{text, link}})
	return text
}

// RecordPace records how fast a handler is now, in both lanes.
func (r *Recorder) RecordPace(handler, pace string) {
	r.add(event{Event: observer.Event{Kind: paceSet, Handler: handler, Type: pace}, lane: Ours})
}

// add is quick, and waits for nothing else.
func (r *Recorder) add(e event) {
	e.at = time.Now()
	r.inbox.Lock()
	defer r.inbox.Unlock()
	if !r.inbox.closed {
		r.inbox.events = append(r.inbox.events, e)
	}
}

// Run makes records until ctx ends. It runs once.
func (r *Recorder) Run(ctx context.Context) {
	defer func() {
		r.inbox.Lock()
		defer r.inbox.Unlock()
		r.inbox.events, r.inbox.closed = nil, true
	}()
	wait.UntilWithContext(ctx, func(context.Context) { r.tick() }, TickTime)
}

// tick takes into account all that has happened since the last one.
func (r *Recorder) tick() {
	r.inbox.Lock()
	events := r.inbox.events
	r.inbox.events = nil
	r.inbox.Unlock()
	status := r.Status()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(events) == 0 && status != r.state.Status {
		events = []event{{Event: observer.Event{Kind: tick}, lane: Ours, at: time.Now()}}
	}
	if len(events) == 0 {
		return
	}
	r.state.Status = status
	r.record(events)
	r.set = encode(r.state.stations())
	close(r.more)
	r.more = make(chan struct{})
}

// record applies events, and makes records of all, or of an even sample: the last
// one is in it, and those with a caption.
func (r *Recorder) record(events []event) {
	even := len(events)
	if even > tickRecords {
		even = tickRecords - tickCaptions
	}
	texts := map[any]json.RawMessage{} // of objects: most have several records
	shownOnce := func(obj any) json.RawMessage {
		if _, ok := texts[obj]; !ok && r.Kind != "Secret" && about(obj).GetNamespace() == r.Namespace {
			texts[obj] = shown(obj)
		}
		return texts[obj]
	}
	captions, skipped := 0, 0
	for i := range events {
		e := &events[i]
		r.state.apply(e)
		said := captionOf(e, r.state)
		if said != nil && captions < tickCaptions {
			captions++
		} else if said = nil; i*even/len(events) == (i+1)*even/len(events) {
			skipped++
			continue
		}
		object := Object{e.Key, shownOnce(e.Old), shownOnce(e.New)}
		if e.Type == "DELETED" {
			object.Before, object.After = object.After, nil
		}
		chip := chipOf(e, r.state)
		if chip != nil {
			chip["object"] = object.Shown()
		}
		r.history.add(fields{"time": e.at.UnixMilli(), "lane": e.lane, "kind": e.Kind, "chip": chip, "caption": said,
			"skipped": skipped}, object) // events before this one that have no record
		skipped = 0
	}
}

// lanePrefix is what the stations of handlers begin with.
var lanePrefix = map[string]string{Ours: "handlers/", Theirs: "client-go/handlers/"}

// ways are from which station to which one an object travels, by lane and kind of event.
var ways = map[string]map[observer.Kind][2]string{
	Ours: {
		observer.Received: {"server", "reflector"}, observer.Stored: {"reflector", "store"},
		observer.Appended: {"store", "log"}, observer.Called: {"log"},
	},
	Theirs: {observer.Received: {"server", "client-go/informer"}, observer.Called: {"client-go/informer"}},
}

// chipOf is the object that travels, if one does. The state has taken the event into
// account.
func chipOf(e *event, s *state) fields {
	way, ok := ways[e.lane][e.Kind]
	if !ok {
		return nil
	}
	chip := fields{"key": e.Key, "name": e.name(), "change": e.change(), "from": way[0], "to": way[1]}
	if e.Kind == observer.Called {
		chip["to"] = lanePrefix[e.lane] + e.Handler
	}
	if h := s.handlers[Ours][e.Handler]; e.lane == Ours && h != nil && h.snapshot {
		chip["from"] = "store"
	}
	if e.lane == Theirs && e.Kind == observer.Received && e.Initial && s.known.Has(e.Key) {
		chip["change"] = "resync" // of a relist
	}
	return chip
}

// A Frame is what a page gets: the state now, and the last records.
type Frame struct {
	Seq     int64 // of the last record
	Set     json.RawMessage
	Records []json.RawMessage
	Missed  int64           // records that the page has not got, and that are not among these
	More    <-chan struct{} // closed when there is more
}

// After is for a page that has the records up to seq; for a new one, which gets none, it
// is -1.
func (r *Recorder) After(seq int64) Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := Frame{Seq: r.history.seq, Set: r.set, More: r.more}
	if seq >= 0 {
		f.Records, f.Missed = r.history.after(seq, maxFrame-len(r.set))
	}
	return f
}

// Object is what a record is about; ok is false if the record is no longer kept.
func (r *Recorder) Object(seq int64) (found Object, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	record, ok := r.history.at(seq)
	return record.Object, ok
}

// Calls are the last ones of a handler, the newest first.
func (r *Recorder) Calls(lane, name string) (calls []fields, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.state.handlers[lane][name]
	if ok {
		calls = slices.Clone(h.last)
	}
	return calls, ok
}
