// The state of both informers.

package recorder

import "example.com/informer/03-reflector/observer"

// A state is what the parts of both informers do now. It is computed from events alone, except for
// its Status. The lock of the recorder guards it.
type state struct {
	Status

	reflector reflectorState
	store     storeState
	journal   journalState
	clientGo  clientGoState
	handlers  map[Implementation]map[string]*handlerState // by name
	speeds    map[string]Speed                            // of the handlers, in both implementations
}

func newState(o Options) *state {
	return &state{
		reflector: reflectorState{doing: stopped},
		store:     newStoreState(o.Indexers),
		journal:   journalState{chunks: []chunk{}},
		clientGo:  newClientGoState(),
		handlers:  map[Implementation]map[string]*handlerState{Ours: {}, ClientGo: {}},
		speeds:    map[string]Speed{},
	}
}

// apply applies an event.
func (s *state) apply(e *event) {
	switch e.Kind {
	case action, statusChanged: // no part of an informer did anything
	case speedSet:
		s.speeds[e.Handler] = e.speed
	case observer.Joined, observer.Removed:
		s.applyRegistration(e)
	case observer.Called, observer.Folded:
		s.applyToHandler(e)
	default:
		if e.implementation == ClientGo {
			s.notify(ClientGo, s.clientGo.receive(e))
		} else {
			s.applyToOurs(e)
		}
	}
}

// applyRegistration applies that a handler joins, or is removed.
func (s *state) applyRegistration(e *event) {
	handlers := s.handlers[e.implementation]
	switch {
	case e.Kind == observer.Removed:
		delete(handlers, e.Handler)
		delete(s.speeds, e.Handler)
	case e.implementation == ClientGo: // it gets the initial adds in its buffer, as any other notification
		handlers[e.Handler] = &handlerState{reported: s.clientGo.known.Len()}
	default:
		handlers[e.Handler] = &handlerState{initial: s.store.keys.size()}
	}
}

// applyToHandler applies a call of a handler that has returned, or the folding of its backlog.
func (s *state) applyToHandler(e *event) {
	h := s.handlers[e.implementation][e.Handler]
	switch {
	case h == nil: // it was removed while the call went on
	case e.Kind == observer.Folded:
		h.fold(e)
	case e.implementation == ClientGo: // it does not report how many notifications wait
		h.call(e, max(0, h.reported+h.appended-1))
	default:
		h.call(e, e.Waiting)
	}
}

// applyToOurs applies an event of the reflector, the store or the journal of our informer.
func (s *state) applyToOurs(e *event) {
	switch e.Kind {
	case observer.Stored:
		s.store.apply(e)
	case observer.Appended:
		s.journal.addNotification()
		s.notify(Ours, 1)
	case observer.Chunk:
		s.journal.addChunk(e.Count)
	default:
		s.reflector.apply(e)
		if e.Kind == observer.Listed || e.Kind == observer.Bookmark && s.reflector.doing == watching {
			s.store.version = e.Version
		}
	}
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
		stationServer:    s.reflector.server(s.Status),
		stationReflector: s.reflector.station(),
		stationStore:     s.store.station(),
		stationJournal:   s.journal.station(),
		stationClientGo:  s.clientGo.station(),
	}
	for implementation, handlers := range s.handlers {
		for name, h := range handlers {
			all[handlerStation(implementation, name)] = h.station(name, s.speeds[name], s.journal.end)
		}
	}
	if s.Updates > 0 {
		all[stationBulk] = bulkView{What: Plural(s.Updates, "update"), Made: s.Made, Of: s.Updates}
	}
	return all
}
