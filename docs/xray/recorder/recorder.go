// Package recorder records what our informer and client-go's do with the same objects: the state of
// their parts now, and a history with limits.
package recorder

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// TickInterval is how often a recorder makes records.
const TickInterval = 50 * time.Millisecond

const (
	maxTickRecords  = 60        // if a tick has more events, a sample of them gets records
	maxTickCaptions = 10        // of the records of a tick
	maxFrameBytes   = 1_000_000 // of the state and the records in a Frame
)

// An Implementation is one of the two informers that the page shows: Ours, and beside it Second or
// ClientGo. Both get the same objects.
type Implementation string

const (
	Ours     Implementation = "ours"
	Second   Implementation = "second" // ours, with other parts
	ClientGo Implementation = "client-go"
)

// Parts describe what an informer is made of.
type Parts struct {
	Title  string `json:"title"`
	Queue  string `json:"queue"`  // its name; "" if there is no queue
	Fanout string `json:"fanout"` // Journal or Channels; "" for client-go's
}

// The fan-outs.
const (
	Journal  = "journal"
	Channels = "channels"
)

// Options describe the informers. All but the Indexers are required.
type Options struct {
	Name, Kind string
	Namespace  string                   // objects of other namespaces are not shown, and Secrets never are
	Parts      map[Implementation]Parts // of the two that are shown
	Indexers   cache.Indexers           // default: none
	Status     func() Status
}

// A Status is the part of the state that no event reports.
type Status struct {
	Cut           bool  // the connection is cut
	Bytes         int64 // that the server has sent to our informer
	Made, Updates int   // how many of the updates of a bulk are made; both are 0 if none is under way
}

// A Frame is the state now, and the last records.
type Frame struct {
	Seq      int64 // the number of the last record
	Stations json.RawMessage
	Records  []json.RawMessage
	Missed   int64           // records after the given one that are not in Records
	More     <-chan struct{} // closed when there are more records
}

// A Recorder records events from New until its Run ends.
type Recorder struct {
	Options

	inbox inbox

	mu       sync.Mutex // guards the fields below
	state    *state
	stations json.RawMessage // the state after the last record
	history  history
	more     chan struct{} // closed, and replaced, when there are more records
}

// New returns a recorder without records.
func New(o Options) *Recorder {
	s := newState(o)
	return &Recorder{Options: o, state: s, stations: encode(s.stations()), more: make(chan struct{})}
}

// Observer returns the observer of one of the informers.
func (r *Recorder) Observer(implementation Implementation) observer.Observer {
	return observer.Func(func(what any) { r.inbox.add(newEvent(implementation, what)) })
}

// RecordAction records a sentence about what the user did, and returns the sentence. The section is
// the one of the book that explains it.
func (r *Recorder) RecordAction(section, format string, args ...any) string {
	text := clip(fmt.Sprintf(format, args...))
	r.inbox.add(newEvent(Ours, action{caption{Text: text, Section: section}}))
	return text
}

// RecordSpeed records the new speed of a handler, in both implementations.
func (r *Recorder) RecordSpeed(handler string, speed Speed) {
	r.inbox.add(newEvent(Ours, speedSet{handler, speed}))
}

// RecordLoop records the new speed of the loops that pop from the queues.
func (r *Recorder) RecordLoop(speed Speed) { r.inbox.add(newEvent(Ours, loopSet{speed})) }

// Run makes records until ctx ends. It runs once.
func (r *Recorder) Run(ctx context.Context) {
	defer r.inbox.close()
	wait.UntilWithContext(ctx, func(context.Context) { r.tick() }, TickInterval)
}

// tick makes records of the events since the last tick.
func (r *Recorder) tick() {
	events := r.inbox.takeAll()
	status := r.Status()
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(events) == 0 && status != r.state.Status {
		events = []event{newEvent(Ours, statusChanged{})}
	}
	if len(events) == 0 {
		return
	}
	r.state.Status = status
	r.record(events)
	r.stations = encode(r.state.stations())
	close(r.more)
	r.more = make(chan struct{})
}

// record applies all events to the state. An event gets a record if it has a caption, or if it is
// in the sample.
func (r *Recorder) record(events []event) {
	objects := newObjectEncoder(r.Options)
	captions, skipped := 0, 0
	for i := range events {
		e := &events[i]
		r.state.apply(e)
		explanation := captionOf(e, r.state)
		if captions == maxTickCaptions {
			explanation = nil
		}
		if explanation != nil {
			captions++
		} else if !inSample(i, len(events)) {
			skipped++
			continue
		}
		object := objects.encode(e.change)
		r.history.add(record{
			Time:           e.time.UnixMilli(),
			Implementation: e.implementation,
			Kind:           e.word(),
			Chip:           chipOf(e, r.state, object.Shown()),
			Caption:        explanation,
			Skipped:        skipped,
		}, object)
		skipped = 0
	}
}

// inSample reports whether event i of a tick gets a record even without a caption: each event of
// few, and an even sample of many. The sample leaves room for records with captions. It always has
// the last event.
func inSample(i, events int) bool {
	size := events
	if events > maxTickRecords {
		size = maxTickRecords - maxTickCaptions
	}
	return i*size/events != (i+1)*size/events
}

// After returns a frame for a page that has the records up to seq. A new page passes -1, and gets
// no records.
func (r *Recorder) After(seq int64) Frame {
	r.mu.Lock()
	defer r.mu.Unlock()
	f := Frame{Seq: r.history.seq, Stations: r.stations, More: r.more}
	if seq >= 0 {
		f.Records, f.Missed = r.history.after(seq, maxFrameBytes-len(r.stations))
	}
	return f
}

// Object returns the object of a record. It is false if the record is no longer kept.
func (r *Recorder) Object(seq int64) (Object, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kept, ok := r.history.get(seq)
	return kept.Object, ok
}

// Calls returns the last calls of a handler, the newest first. It is false if there is no such
// handler.
func (r *Recorder) Calls(implementation Implementation, name string) ([]Call, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h, ok := r.state.handlers[implementation][name]
	if !ok {
		return nil, false
	}
	return slices.Clone(h.last), true
}

// An inbox holds the events that have no record yet. It has a lock of its own, because an observer
// must not wait for anything else.
type inbox struct {
	mu     sync.Mutex
	events []event
	closed bool // nobody takes events out any more, so none is added
}

func (i *inbox) add(e event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.closed {
		i.events = append(i.events, e)
	}
}

// takeAll empties the inbox.
func (i *inbox) takeAll() []event {
	i.mu.Lock()
	defer i.mu.Unlock()
	events := i.events
	i.events = nil
	return events
}

// close empties the inbox for good.
func (i *inbox) close() {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.events, i.closed = nil, true
}
