// The state of both informers, and of the reflector of each of ours.

package recorder

import (
	"time"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
)

// The names of the stations on the page. The names of an informer's stations begin with its prefix.
// A fan-out's is Journal or Channels.
const (
	stationServer    = "server"
	stationReflector = "reflector"
	stationQueue     = "queue"
	stationStore     = "store"
	stationInformer  = "informer" // client-go's, whose parts are not to be seen
	stationBulk      = "bulk"     // of many updates that are being made
)

var prefixes = map[Implementation]string{Ours: "", Second: "second/", ClientGo: "client-go/"}

// station returns the name of a station of an informer.
func (i Implementation) station(name string) string { return prefixes[i] + name }

func handlerStation(implementation Implementation, name string) string {
	return implementation.station("handlers/" + name)
}

// A state is what the parts of both informers do now. It is computed from events alone, except for
// its Status. The lock of the recorder guards it.
type state struct {
	Status

	informers map[Implementation]*informerState // ours: one or two
	clientGo  clientGoState
	handlers  map[Implementation]map[string]*handlerState // by name
	speeds    map[string]Speed                            // of the handlers, in both implementations
	loop      Speed                                       // of the loops that pop
}

// An informerState is the state of the parts of one of our informers.
type informerState struct {
	Parts
	reflector reflectorState
	queue     queueState // not used if there is no queue
	store     storeState
	fanout    journalState // channels have no chunks
}

func newState(o Options) *state {
	s := &state{
		informers: map[Implementation]*informerState{},
		clientGo:  newClientGoState(),
		handlers:  map[Implementation]map[string]*handlerState{},
		speeds:    map[string]Speed{},
		loop:      Fast,
	}
	for implementation, parts := range o.Parts {
		s.handlers[implementation] = map[string]*handlerState{}
		if implementation != ClientGo {
			s.informers[implementation] = &informerState{
				Parts:     parts,
				reflector: reflectorState{doing: stopped},
				queue:     newQueueState(),
				store:     newStoreState(o.Indexers),
				fanout:    journalState{chunks: []chunk{}},
			}
		}
	}
	return s
}

// apply applies an event.
func (s *state) apply(e *event) {
	handlers := s.handlers[e.implementation]
	switch w := e.what.(type) {
	case action, statusChanged: // no part of an informer did anything
	case speedSet:
		s.speeds[w.name] = w.speed
	case loopSet:
		s.loop = w.speed
	case HandlerJoined:
		if e.implementation == ClientGo { // it gets the initial adds in its buffer, as any other notification
			handlers[w.Name] = &handlerState{reported: s.clientGo.known.Len()}
		} else {
			handlers[w.Name] = &handlerState{initial: s.informers[e.implementation].store.keys.size()}
		}
	case HandlerRemoved:
		delete(handlers, w.Name)
		delete(s.speeds, w.Name)
	case HandlerCalled:
		if h := handlers[w.Name]; h != nil { // nil if it was removed while the call went on
			waiting := w.Waiting
			if e.implementation == ClientGo { // it does not report how many notifications wait
				waiting = max(0, h.reported+h.appended-1)
			}
			h.call(w, e.time, waiting)
		}
	case handlerFolded:
		if h := handlers[w.name]; h != nil {
			h.fold(w, e.time)
		}
	default:
		if e.implementation == ClientGo {
			s.notify(ClientGo, s.clientGo.receive(e.what))
		} else {
			s.applyToOurs(e)
		}
	}
}

// applyToOurs applies an event of the reflector, the queue, the store or the fan-out of one of our
// informers. Without a queue, the store has the version of the reflector.
func (s *state) applyToOurs(e *event) {
	i := s.informers[e.implementation]
	switch w := e.what.(type) {
	case informer.Stored:
		i.store.apply(w)
	case processor.Appended:
		i.fanout.addNotification()
		s.notify(e.implementation, 1)
	case journal.ChunkStarted:
		i.fanout.addChunk(w.Size)
	case deltasPopped:
		if w.version != "" {
			i.store.version = w.version
		}
	case observer.Listed:
		if i.Queue == "" {
			i.store.version = w.Version
		}
	case observer.Bookmark:
		if i.Queue == "" && i.reflector.doing == watching {
			i.store.version = w.Version
		}
	}
	i.queue.apply(e.what, e.time)
	i.reflector.apply(e.what, e.time)
}

// notify counts notifications for each handler of an implementation.
func (s *state) notify(implementation Implementation, n int) {
	for _, h := range s.handlers[implementation] {
		h.appended += n
	}
}

// A bulkView is the progress of many updates as the page shows it.
type bulkView struct {
	What string `json:"what"`
	Made int    `json:"made"`
	Of   int    `json:"of"`
}

// stations returns all that the page shows, by the names of the stations.
func (s *state) stations() map[string]any {
	all := map[string]any{
		stationServer: s.informers[Ours].reflector.server(s.Status),
	}
	for implementation, i := range s.informers {
		all[implementation.station(stationReflector)] = i.reflector.station()
		if i.Queue != "" {
			all[implementation.station(stationQueue)] = i.queue.station(i.Queue, s.loop)
		}
		all[implementation.station(stationStore)] = i.store.station()
		all[implementation.station(i.Fanout)] = i.fanout.station()
	}
	if _, shown := s.handlers[ClientGo]; shown {
		all[ClientGo.station(stationInformer)] = s.clientGo.station()
	}
	for implementation, handlers := range s.handlers {
		read := 0
		if i := s.informers[implementation]; i != nil {
			read = i.fanout.end
		}
		for name, h := range handlers {
			all[handlerStation(implementation, name)] = h.station(name, s.speeds[name], read)
		}
	}
	if s.Updates > 0 {
		all[stationBulk] = bulkView{What: Plural(s.Updates, "update"), Made: s.Made, Of: s.Updates}
	}
	return all
}

// What a reflector can be doing.
const (
	stopped    = "stopped"
	listing    = "listing"
	streaming  = "streaming" // it gets a list over the watch
	watching   = "watching"
	backingOff = "backing off"
)

// A reflectorState counts requests, even those that have failed.
type reflectorState struct {
	doing     string
	connected bool   // a list or a watch has succeeded, and none has failed or ended since
	version   string // the resource version that it has reached; "" before the first list
	err       string // why the last list or watch failed; "" while it watches

	lists, watches    int // requests
	events, bookmarks int // of the watches

	lastEvent  int64 // when the last event or bookmark came, in Unix milliseconds
	backoffEnd int64 // when it tries again, in Unix milliseconds; 0 unless it backs off
}

// apply applies an event of the reflector. It ignores those of other parts.
func (r *reflectorState) apply(what any, at time.Time) {
	switch e := what.(type) {
	case observer.Listing:
		r.doing, r.backoffEnd = listing, 0
		r.lists++
		if e.Stream { // a streamed list is also a WATCH request
			r.doing = streaming
			r.watches++
		}
	case observer.Listed:
		r.version, r.connected = e.Version, true
		if r.doing == streaming { // the watch of the streamed list continues
			r.doing, r.err = watching, ""
		}
	case observer.Watching:
		r.backoffEnd = 0
		r.watches++
		r.doing, r.err, r.connected = watching, "", true
	case observer.Received:
		r.events++
		r.version, r.lastEvent = e.Version, at.UnixMilli()
	case observer.Bookmark:
		r.bookmarks++
		r.version, r.lastEvent = e.Version, at.UnixMilli()
	case observer.Ended:
		r.failed(e.Err)
	case observer.Expired:
		r.failed(e.Err)
	case observer.BackingOff:
		r.doing, r.backoffEnd = backingOff, at.Add(e.Pause).UnixMilli()
	}
}

func (r *reflectorState) failed(err error) {
	r.connected = false
	if err != nil {
		r.err = clip(err.Error())
	}
}

// A serverView is the API server as the page shows it.
type serverView struct {
	Connected bool  `json:"connected"`
	Cut       bool  `json:"cut"`
	Lists     int   `json:"lists"`
	Watches   int   `json:"watches"`
	Bytes     int64 `json:"bytes"`
}

func (r *reflectorState) server(status Status) serverView {
	return serverView{
		Connected: r.connected && !status.Cut, Cut: status.Cut,
		Lists: r.lists, Watches: r.watches, Bytes: status.Bytes,
	}
}

// A reflectorView is the reflector as the page shows it.
type reflectorView struct {
	Doing     string `json:"doing"`
	Until     int64  `json:"until"`
	Version   string `json:"version"`
	LastEvent int64  `json:"lastEvent"`
	Events    int    `json:"events"`
	Bookmarks int    `json:"bookmarks"`
	Error     string `json:"error"`
}

func (r *reflectorState) station() reflectorView {
	return reflectorView{
		Doing: r.doing, Until: r.backoffEnd, Version: r.version, LastEvent: r.lastEvent,
		Events: r.events, Bookmarks: r.bookmarks, Error: r.err,
	}
}
