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

	"example.com/informer/03-reflector/observer"
)

// TickInterval is how often a recorder makes records.
const TickInterval = 50 * time.Millisecond

const (
	maxTickRecords  = 60        // if a tick has more events, a sample of them gets records
	maxTickCaptions = 10        // of the records of a tick
	maxFrameBytes   = 1_000_000 // of the state and the records in a Frame
)

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
	return observer.Func(func(e observer.Event) {
		r.add(event{Event: e, implementation: implementation})
	})
}

// RecordAction records a sentence about what the user did, and returns the sentence. The section is
// the one of the book that explains it.
func (r *Recorder) RecordAction(section, format string, args ...any) string {
	text := clip(fmt.Sprintf(format, args...))
	r.add(event{
		Event: observer.Event{Kind: action}, implementation: Ours, caption: &caption{Text: text, Section: section},
	})
	return text
}

// RecordSpeed records the new speed of a handler, in both implementations.
func (r *Recorder) RecordSpeed(handler string, speed Speed) {
	r.add(event{Event: observer.Event{Kind: speedSet, Handler: handler}, implementation: Ours, speed: speed})
}

// add waits for nothing but the lock of the inbox.
func (r *Recorder) add(e event) {
	e.time = time.Now()
	r.inbox.add(e)
}

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
		events = []event{{Event: observer.Event{Kind: statusChanged}, implementation: Ours, time: time.Now()}}
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
		object := objects.encode(e)
		r.history.add(record{
			Time:           e.time.UnixMilli(),
			Implementation: e.implementation,
			Kind:           string(e.Kind),
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
