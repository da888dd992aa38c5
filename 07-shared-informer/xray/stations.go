// The stations: what the parts of an informer are doing, computed from events. This
// is the only place where that is computed; the page merges what it gets.

package xray

import (
	"slices"
	"time"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

const (
	shownChunks = 8
	keptCalls   = 50
)

// An input is one event of one lane.
type input struct {
	observer.Event
	lane string
	at   time.Time
	keys []string // of a list of client-go's lane; nil if it was streamed
	say  *caption // of an action
}

// stations is the state. The recorder's lock guards it.
type stations struct {
	streams  bool // the reflector streams its lists, if the server can
	indexers cache.Indexers

	server    serverStation
	up        bool // there is a list or a watch
	reflector reflectorStation
	before    observer.Kind // the event of the reflector before this one

	version   string
	keys      recent
	indexes   map[string]recent // the values of each
	deleted   string            // the key that was deleted last
	recreated bool              // this event is the add of that key

	end      int
	chunks   []chunk // without Used
	handlers map[string]*handlerState

	theirs map[string]*handlerState // of client-go's lane
	got    informerStation
	known  map[string]bool // the keys of client-go's store
	listed map[string]bool // those of a list that is not complete

	bulk  bulkStation
	dirty map[string]bool // the stations that have changed since the last record
}

// A handlerState is a handler, and how its backlog is counted.
type handlerState struct {
	handlerStation
	folded   int
	base     int                         // what waited when it last said so
	since    int                         // what was appended since then
	initial  int                         // what it still has to get of the snapshot that it joined with
	foldSaid time.Time                   // when a caption was last about its folding
	snapshot bool                        // its last call was of that snapshot
	behind   bool                        // its backlog was folded, and is not empty yet
	before   struct{ calls, folded int } // what it had before that
	caughtUp bool                        // this event has emptied it
	calls    []call                      // the last ones, the newest last
}

// newStations returns those of an informer, and of client-go's beside it if it has one.
func newStations(indexers cache.Indexers, streams, beside bool) *stations {
	s := &stations{
		streams: streams, indexers: indexers, keys: newRecent(), indexes: map[string]recent{}, chunks: []chunk{},
		handlers: map[string]*handlerState{}, theirs: map[string]*handlerState{},
		known: map[string]bool{}, listed: map[string]bool{}, dirty: map[string]bool{},
	}
	s.reflector.Doing = "stopped"
	for name := range indexers {
		s.indexes[name] = newRecent()
	}
	s.touch("server", "reflector", "store", "log")
	if beside {
		s.touch("client-go/informer")
	}
	return s
}

func (s *stations) touch(names ...string) {
	for _, name := range names {
		s.dirty[name] = true
	}
}

// apply takes an event into account.
func (s *stations) apply(in *input) {
	if in.lane == clientGo {
		s.applyTheirs(in)
		return
	}
	switch in.Kind {
	case action, tick: // of no part of the informer
	case observer.Stored:
		s.store(in)
	case observer.Appended:
		s.end++
		s.touch("log")
		for name, h := range s.handlers {
			h.since++
			s.touch("handlers/" + name)
		}
	case observer.Chunk:
		s.chunk(in.Count)
	case observer.Joined:
		h := &handlerState{handlerStation: handlerStation{Name: in.Handler, Pace: fast}, initial: len(s.keys.at)}
		s.handlers[in.Handler] = h
		s.touch("handlers/"+in.Handler, "log")
	case observer.Removed:
		delete(s.handlers, in.Handler)
		s.touch("handlers/"+in.Handler, "log")
	case observer.Called:
		if h := s.handlers[in.Handler]; h != nil {
			h.base, h.since = in.Waiting, 0
			h.called(in)
			h.caughtUp = h.behind && h.waiting() == 0
			h.behind = h.behind && !h.caughtUp
			s.touch("handlers/"+in.Handler, "log")
		}
	case observer.Folded:
		if h := s.handlers[in.Handler]; h != nil {
			// Its Waiting does not count what the handler has taken at once, and has in hand.
			h.base, h.since = max(in.Waiting, h.base+h.since-in.Count), 0
			if !h.behind {
				h.behind, h.before.calls, h.before.folded = true, h.Calls, h.folded
			}
			h.folded += in.Count
			s.touch("handlers/"+in.Handler, "log")
		}
	default:
		s.reflect(in)
	}
}

func (h *handlerState) called(in *input) {
	if h.snapshot = in.Initial && h.initial > 0; h.snapshot {
		h.initial--
	}
	last := call{
		Time: ms(in.at), Key: in.Key, Change: changeOf(in.Type, in.Old, in.New, in.Initial),
		TookMs: float64(in.Took.Microseconds()) / 1000,
	}
	h.Calls, h.Last = h.Calls+1, &last
	if len(h.calls) == keptCalls {
		h.calls = slices.Delete(h.calls, 0, 1)
	}
	h.calls = append(h.calls, last)
}

func (h *handlerState) waiting() int { return h.initial + h.base + h.since }

// reflect is about the reflector and its connection.
func (s *stations) reflect(in *input) {
	r := &s.reflector
	r.Until = 0
	switch in.Kind {
	case observer.Listing:
		s.server.Lists++
		if r.Doing = s.lists(); r.Doing == "streaming" {
			s.server.Watches++ // it is a WATCH, too
		}
	case observer.Listed:
		r.Version, s.version, s.up = in.Version, in.Version, true
		if r.Doing == "streaming" { // the watch that brought the list goes on
			r.Doing, r.Error = "watching", ""
		}
		s.touch("store")
	case observer.Watching:
		s.server.Watches++
		r.Doing, r.Error, s.up = "watching", "", true
	case observer.Received:
		r.Events++
		r.Version, r.LastEvent = in.Version, ms(in.at)
	case observer.Bookmark:
		r.Bookmarks++
		r.Version, r.LastEvent = in.Version, ms(in.at)
		if r.Doing == "watching" {
			s.version = in.Version
			s.touch("store")
		}
	case observer.Ended, observer.Expired:
		s.up = false
		if in.Err != nil {
			r.Error = clip(in.Err.Error())
		}
	case observer.BackingOff:
		r.Doing, r.Until = "backing off", ms(in.at.Add(in.Took))
	}
	s.before = in.Kind
	s.touch("server", "reflector")
}

// lists is how the reflector lists: where a streamed list has just failed, it sends a
// LIST, which may have pages, or may have to be repeated.
func (s *stations) lists() string {
	doing := s.reflector.Doing
	plain := doing == "listing" && (s.before == observer.Listing || s.before == observer.Expired) ||
		doing == "streaming" && s.before == observer.Ended
	if !s.streams || plain {
		return "listing"
	}
	return "streaming"
}

func (s *stations) store(in *input) {
	if in.Version != "" {
		s.version = in.Version
	}
	known := s.keys.at[in.Key] != nil
	s.recreated = in.Type == "ADDED" && !known && in.Key == s.deleted
	switch {
	case in.Type == "DELETED":
		s.deleted = in.Key
		s.keys.add(in.Key, -1)
	case known:
		s.keys.add(in.Key, 0)
	default:
		s.keys.add(in.Key, 1)
	}
	s.index(in.Old, -1)
	if in.Type != "DELETED" {
		s.index(in.New, 1)
	}
	s.touch("store")
}

// index counts an object in, or out.
func (s *stations) index(obj any, by int) {
	if obj == nil {
		return
	}
	for name, values := range s.indexers {
		under, _ := values(obj) // the store has reported an error
		for _, value := range slices.Compact(slices.Sorted(slices.Values(under))) {
			s.indexes[name].add(clip(value), by)
		}
	}
}

// chunk begins a chunk. If the one before is full, it is for the change that was
// appended just now.
func (s *stations) chunk(size int) {
	first := s.end
	switch n := len(s.chunks); {
	case n > 0 && s.chunks[n-1].First == s.end: // nothing is in it
		s.chunks = s.chunks[:n-1]
	case n > 0 && s.end-s.chunks[n-1].First >= s.chunks[n-1].Size:
		first--
	}
	s.chunks = append(s.chunks, chunk{First: first, Size: size})
	s.chunks = s.chunks[max(0, len(s.chunks)-shownChunks):]
	s.touch("log")
}
