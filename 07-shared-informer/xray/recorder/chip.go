// Chips: the objects that travel from station to station on the page.

package recorder

import "example.com/informer/03-reflector/observer"

// A chip is an object on its way from one station to another.
type chip struct {
	Key    string `json:"key"`
	Name   string `json:"name"`
	Change string `json:"change"`
	From   string `json:"from"`
	To     string `json:"to"`
	Object bool   `json:"object"` // the object can be shown
}

// A route has no end if it leads to a handler, which the event names.
type route struct{ from, to string }

var routes = map[Implementation]map[observer.Kind]route{
	Ours: {
		observer.Received: {from: stationServer, to: stationReflector},
		observer.Stored:   {from: stationReflector, to: stationStore},
		observer.Appended: {from: stationStore, to: stationJournal},
		observer.Called:   {from: stationJournal},
	},
	ClientGo: {
		observer.Received: {from: stationServer, to: stationClientGo},
		observer.Called:   {from: stationClientGo},
	},
}

// chipOf returns the chip of an event that was applied to the state, or nil if no object travels.
func chipOf(e *event, s *state, shown bool) *chip {
	r, ok := routes[e.implementation][e.Kind]
	if !ok {
		return nil
	}
	c := &chip{Key: e.Key, Name: e.name(), Change: e.change(), From: r.from, To: r.to, Object: shown}
	if e.Kind == observer.Called {
		c.To = handlerStation(e.implementation, e.Handler)
		if h := s.handlers[Ours][e.Handler]; e.implementation == Ours && h != nil && h.fromSnapshot {
			c.From = stationStore
		}
	}
	if e.implementation == ClientGo && e.Kind == observer.Received && e.Initial && s.clientGo.known.Has(e.Key) {
		c.Change = "resync" // a relist
	}
	return c
}
