// The recorder: it collects events, and makes records of them twenty times a second.

package xray

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

const (
	frameTime     = 50 * time.Millisecond
	frameRecords  = 60    // of more events than that, a sample gets records
	frameCaptions = 10    // at most, in a frame
	keptRecords   = 5_000 // with their objects
	maxBehind     = 3_000 // records; a client that is further behind gets a state

	keptBytes  = 30_000_000 // of records and objects; they take somewhat more memory
	maxMessage = 1_000_000  // bytes of records
)

// Kinds of records that no observer reports.
const (
	action observer.Kind = "action"
	tick   observer.Kind = "tick" // nothing but a set
)

// A recorder is the Observer of one informer.
type recorder struct {
	subject *Subject

	inbox struct { // has a lock of its own: Observe must not wait for anybody
		sync.Mutex
		events []input
	}

	mu        sync.Mutex // guards what is below
	stations  *stations
	seq       int64
	published map[string]json.RawMessage // all sets, merged
	kept      []keptRecord               // the last ones, without a gap
	bytes     int                        // the size of those
	more      chan struct{}              // closed, and made anew, when there are more
}

// A keptRecord is a record in JSON, and the object that it is about, as it is shown.
type keptRecord struct {
	seq           int64
	text          []byte
	key           string
	before, after json.RawMessage
}

func (k *keptRecord) size() int { return len(k.text) + len(k.before) + len(k.after) }

func newRecorder(s *Subject) *recorder {
	r := &recorder{
		subject: s, stations: newStations(s.Indexers, s.streams(), s.ClientGo != nil),
		published: map[string]json.RawMessage{}, more: make(chan struct{}),
	}
	r.poll()
	maps.Copy(r.published, r.stations.take())
	return r
}

// Observe implements observer.Observer.
func (r *recorder) Observe(e observer.Event) {
	if _, name, ok := strings.Cut(e.Handler, " + event handler "); ok {
		e.Handler = name
	}
	r.add(input{Event: e, lane: ours})
}

// add takes an event. It is quick, and waits for nothing else.
func (r *recorder) add(in input) {
	in.at = time.Now()
	r.inbox.Lock()
	defer r.inbox.Unlock()
	r.inbox.events = append(r.inbox.events, in)
}

// act records something that the user did.
func (r *recorder) act(text, link string) {
	r.add(input{Event: observer.Event{Kind: action}, lane: ours, say: &caption{clip(text), link}})
}

// run makes records until ctx ends.
func (r *recorder) run(ctx context.Context) {
	frames := time.NewTicker(frameTime)
	defer frames.Stop()
	for {
		select {
		case <-frames.C:
			r.frame()
		case <-ctx.Done():
			return
		}
	}
}

// frame takes into account all that has happened since the last one.
func (r *recorder) frame() {
	r.inbox.Lock()
	events := r.inbox.events
	r.inbox.events = nil
	r.inbox.Unlock()
	r.mu.Lock()
	defer r.mu.Unlock()
	r.poll()
	if len(events) == 0 && len(r.stations.dirty) > 0 {
		events = []input{{Event: observer.Event{Kind: tick}, lane: ours, at: time.Now()}}
	}
	if records, objects := r.records(events); len(records) > 0 {
		r.publish(records, objects)
	}
}

// poll looks at what no event is about.
func (r *recorder) poll() {
	s := r.stations
	if line := r.subject.Line; line != nil {
		if bytes, cut := line.bytes.Load(), line.cut.Load(); bytes != s.server.Bytes || cut != s.server.Cut {
			s.server.Bytes, s.server.Cut = bytes, cut
			s.touch("server")
		}
	}
	var bulk bulkStation // of nothing, if there is none
	if b := r.subject.bulk.Load(); b != nil {
		bulk = bulkStation{What: b.what, Made: int(b.made.Load()), Of: b.of}
	}
	if bulk != s.bulk {
		s.bulk = bulk
		s.touch("bulk")
	}
	for _, m := range r.subject.handlers() {
		for i, lane := range []struct {
			states map[string]*handlerState
			prefix string
		}{{s.handlers, "handlers/"}, {s.theirs, "client-go/handlers/"}} {
			h := m.lanes[i]
			if h == nil || lane.states[h.name] == nil {
				continue
			}
			pace, _ := h.current()
			inCall, state := h.inCall.Load(), lane.states[h.name]
			if state.Pace != pace || state.InCall != inCall {
				state.Pace, state.InCall = pace, inCall
				s.touch(lane.prefix + h.name)
			}
		}
	}
}

// records applies events, and makes records of all, or of an even sample: the last
// one is in it, and those with a caption.
func (r *recorder) records(events []input) (records []record, objects []keptRecord) {
	even := frameRecords
	if len(events) > frameRecords {
		even -= frameCaptions
	}
	texts := map[any]json.RawMessage{} // of objects: most have several records
	shown := func(obj any) json.RawMessage {
		if _, ok := texts[obj]; !ok {
			texts[obj] = r.subject.shown(obj)
		}
		return texts[obj]
	}
	captions, skipped := 0, 0
	for i := range events {
		in := &events[i]
		r.stations.apply(in)
		said := captionOf(in, r.stations)
		if said != nil && captions == frameCaptions {
			said = nil
		}
		if said == nil && len(events) > frameRecords && i*even/len(events) == (i+1)*even/len(events) {
			skipped++
			continue
		}
		if said != nil {
			captions++
		}
		made := record{
			Time: ms(in.at), Lane: in.lane, Kind: string(in.Kind), Chip: chipOf(in, r.stations), Caption: said,
			Set: r.stations.take(), Skipped: skipped,
		}
		skipped = 0
		before, after := in.Old, in.New
		if in.Type == "DELETED" {
			before, after = in.New, nil
		}
		about := keptRecord{key: in.Key, before: shown(before), after: shown(after)}
		if made.Chip != nil {
			made.Chip.Object = about.before != nil || about.after != nil
		}
		records, objects = append(records, made), append(objects, about)
	}
	return records, objects
}

// chipOf is the object that travels, if one does. The stations have taken the event
// into account.
func chipOf(in *input, s *stations) *chip {
	from, to := "", ""
	change := changeOf(in.Type, in.Old, in.New, in.Initial)
	switch {
	case in.Kind == observer.Received && in.lane == clientGo:
		from, to = "server", "client-go/informer"
		if in.Initial && s.known[in.Key] {
			change = "resync" // of a relist
		}
	case in.Kind == observer.Called && in.lane == clientGo:
		from, to = "client-go/informer", "client-go/handlers/"+in.Handler
	case in.Kind == observer.Received:
		from, to = "server", "reflector"
	case in.Kind == observer.Stored:
		from, to = "reflector", "store"
	case in.Kind == observer.Appended:
		from, to = "store", "log"
	case in.Kind == observer.Called:
		from, to = "log", "handlers/"+in.Handler
		if h := s.handlers[in.Handler]; h != nil && h.snapshot {
			from = "store"
		}
	default:
		return nil
	}
	return &chip{Key: in.Key, Name: nameOf(in.Key), From: from, To: to, Change: change}
}

func nameOf(key string) string {
	_, name, _ := cache.SplitMetaNamespaceKey(key)
	return name
}

// publish numbers records and lets everybody have them.
func (r *recorder) publish(records []record, objects []keptRecord) {
	for i := range records {
		r.seq++
		records[i].Seq, objects[i].seq = r.seq, r.seq
		text, err := json.Marshal(records[i])
		if err != nil {
			panic(err) // there is nothing in it that cannot be encoded
		}
		objects[i].text = text
		r.bytes += objects[i].size()
		for name, station := range records[i].Set {
			if r.published[name] = station; string(station) == "null" {
				delete(r.published, name)
			}
		}
	}
	r.kept = append(r.kept, objects...)
	gone := 0
	for ; r.bytes > keptBytes || len(r.kept)-gone > keptRecords; gone++ {
		r.bytes -= r.kept[gone].size()
	}
	r.kept = slices.Delete(r.kept, 0, gone)
	close(r.more)
	r.more = make(chan struct{})
}
