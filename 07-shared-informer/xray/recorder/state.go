// The state: what the parts of both informers are doing, computed from events.

package recorder

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"

	"example.com/informer/03-reflector/observer"
)

const (
	shownKeys   = 50
	shownValues = 6 // of an index
	shownChunks = 8
)

// A Status is what no event is about.
type Status struct {
	Cut           bool  // the connection is
	Bytes         int64 // sent to our informer
	Made, Updates int   // of many that are under way; 0 if none are
}

// state is that of both lanes. The recorder's lock guards it.
type state struct {
	Status
	of Options

	// The reflector, and its connection to the API server.
	up                bool // there is a list or a watch
	lists, watches    int
	doing             string
	until, lastEvent  int64
	reached           string // its version
	events, bookmarks int
	failure           string

	// The store.
	version   string
	keys      recent
	indexes   map[string]recent // the values of each
	deleted   string            // the key that was deleted last
	recreated bool              // this event is the add of that key

	// The log.
	end    int
	chunks []chunk

	// client-go's informer.
	received int
	known    sets.Set[string]
	listed   sets.Set[string] // the keys of a list that is not complete

	handlers map[string]map[string]*handler // by lane and name
	paces    map[string]string              // in both lanes
}

// A chunk is one of the log.
type chunk struct {
	First int `json:"first"`
	Size  int `json:"size"`
	Used  int `json:"used"`
}

func newState(of Options) *state {
	s := &state{
		of: of, doing: "stopped", chunks: []chunk{},
		keys: newRecent(), indexes: map[string]recent{}, known: sets.New[string](), listed: sets.New[string](),
		handlers: map[string]map[string]*handler{Ours: {}, Theirs: {}}, paces: map[string]string{},
	}
	for name := range of.Indexers {
		s.indexes[name] = newRecent()
	}
	return s
}

// apply takes an event into account.
func (s *state) apply(e *event) {
	h := s.handlers[e.lane][e.Handler]
	switch {
	case e.Kind == action || e.Kind == tick: // of no part of an informer
	case e.Kind == paceSet:
		s.paces[e.Handler] = e.Type
	case e.Kind == observer.Removed:
		delete(s.handlers[e.lane], e.Handler)
		delete(s.paces, e.Handler)
	case e.Kind == observer.Joined && e.lane == Theirs:
		s.handlers[Theirs][e.Handler] = &handler{base: len(s.known)}
	case e.Kind == observer.Joined:
		s.handlers[Ours][e.Handler] = &handler{initial: len(s.keys.at)}
	case h == nil && e.Handler != "": // it was removed
	case e.Kind == observer.Called && e.lane == Theirs:
		h.call(e, max(0, h.base+h.since-1))
	case e.Kind == observer.Called:
		h.call(e, e.Waiting)
	case e.Kind == observer.Folded:
		h.fold(e)
	case e.lane == Theirs:
		s.receive(e)
	case e.Kind == observer.Stored:
		s.store(e)
	case e.Kind == observer.Appended:
		s.end++
		if n := len(s.chunks); n > 0 {
			s.chunks[n-1].Used++
		}
		s.notify(Ours, 1)
	case e.Kind == observer.Chunk:
		s.addChunk(e.Count)
	default:
		s.reflect(e)
	}
}

// notify counts notifications that come for each handler of a lane.
func (s *state) notify(lane string, n int) {
	for _, h := range s.handlers[lane] {
		h.since += n
	}
}

// reflect is about the reflector and its connection.
func (s *state) reflect(e *event) {
	s.until = 0
	switch e.Kind {
	case observer.Listing:
		s.lists++
		if s.doing = "listing"; e.Stream {
			s.doing = "streaming"
			s.watches++ // it is a WATCH, too
		}
	case observer.Listed:
		s.reached, s.version, s.up = e.Version, e.Version, true
		if s.doing == "streaming" { // the watch that brought the list goes on
			s.doing, s.failure = "watching", ""
		}
	case observer.Watching:
		s.watches++
		s.doing, s.failure, s.up = "watching", "", true
	case observer.Received:
		s.events++
		s.reached, s.lastEvent = e.Version, e.at.UnixMilli()
	case observer.Bookmark:
		s.bookmarks++
		s.reached, s.lastEvent = e.Version, e.at.UnixMilli()
		if s.doing == "watching" {
			s.version = e.Version
		}
	case observer.Ended, observer.Expired:
		s.up = false
		if e.Err != nil {
			s.failure = clip(e.Err.Error())
		}
	case observer.BackingOff:
		s.doing, s.until = "backing off", e.at.Add(e.Took).UnixMilli()
	}
}

func (s *state) store(e *event) {
	if e.Version != "" {
		s.version = e.Version
	}
	known := s.keys.at[e.Key] != nil
	s.recreated = e.Type == "ADDED" && !known && e.Key == s.deleted
	s.index(e.Old, -1)
	switch {
	case e.Type == "DELETED":
		s.deleted = e.Key
		s.keys.add(e.Key, -1)
		return
	case known:
		s.keys.add(e.Key, 0)
	default:
		s.keys.add(e.Key, 1)
	}
	s.index(e.New, 1)
}

// index counts an object in, or out.
func (s *state) index(obj any, by int) {
	if obj == nil {
		return
	}
	for name, values := range s.of.Indexers {
		under, _ := values(obj) // the store has reported an error
		for _, value := range slices.Compact(slices.Sorted(slices.Values(under))) {
			s.indexes[name].add(clip(value), by)
		}
	}
}

// addChunk begins a chunk. If the one before is full, it is for the change that was
// appended just now.
func (s *state) addChunk(size int) {
	added := chunk{First: s.end, Size: size}
	if n := len(s.chunks); n > 0 {
		switch before := &s.chunks[n-1]; {
		case before.Used == 0:
			s.chunks = s.chunks[:n-1]
		case before.Used > before.Size:
			before.Used--
			added.First, added.Used = s.end-1, 1
		}
	}
	s.chunks = append(s.chunks, added)
	s.chunks = s.chunks[max(0, len(s.chunks)-shownChunks):]
}

// receive is about what client-go's informer gets.
func (s *state) receive(e *event) {
	switch {
	case e.Kind == observer.Listing:
		clear(s.listed)
	case e.Kind == observer.Received && e.Initial:
		s.received++
		s.listed.Insert(e.Key)
	case e.Kind == observer.Received:
		s.received++
		s.notify(Theirs, 1)
		if s.known.Insert(e.Key); e.Type == "DELETED" {
			s.known.Delete(e.Key)
		}
	case e.Kind == observer.Listed: // each object of it comes for the handlers, and a tombstone for each that it lacks
		s.notify(Theirs, s.listed.Union(s.known).Len())
		s.known, s.listed = s.listed, sets.New[string]()
	}
}

// stations are all that is shown, by the names that chips and the page have for them.
// Of the store they have the keys that changed last, and of each index the values.
func (s *state) stations() fields {
	keys, values, indexes := []string{}, map[string]int{}, map[string]map[string]int{}
	for _, key := range s.keys.first(shownKeys) {
		keys = append(keys, key.text)
	}
	for name, all := range s.indexes {
		indexes[name], values[name] = map[string]int{}, len(all.at)
		for _, value := range all.first(shownValues) {
			indexes[name][value.text] = value.n
		}
	}
	set := fields{
		"server": fields{"connected": s.up && !s.Cut, "cut": s.Cut, "lists": s.lists, "watches": s.watches,
			"bytes": s.Bytes},
		"reflector": fields{"doing": s.doing, "until": s.until, "version": s.reached, "lastEvent": s.lastEvent,
			"events": s.events, "bookmarks": s.bookmarks, "error": s.failure},
		"store": fields{"objects": len(s.keys.at), "version": s.version, "indexes": indexes, "values": values,
			"keys": keys},
		"log":                fields{"end": s.end, "chunks": s.chunks},
		"client-go/informer": fields{"received": s.received, "objects": len(s.known)},
	}
	for lane, handlers := range s.handlers {
		for name, h := range handlers {
			set[lanePrefix[lane]+name] = h.station(name, s.paces[name], s.end)
		}
	}
	if s.Updates > 0 {
		set["bulk"] = fields{"what": Count(s.Updates, "update"), "made": s.Made, "of": s.Updates}
	}
	return set
}
