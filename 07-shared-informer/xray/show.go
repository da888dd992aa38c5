// The stations as the page gets them.

package xray

import (
	"encoding/json"
	"slices"
	"strings"
	"time"
)

const (
	shownKeys   = 50
	shownValues = 6 // of an index
)

// show encodes a station as it is now; null if it is not there.
func (s *stations) show(name string) json.RawMessage {
	var station any
	switch {
	case name == "server":
		server := s.server
		server.Connected = s.up && !server.Cut
		station = server
	case name == "reflector":
		station = s.reflector
	case name == "store":
		station = s.showStore()
	case name == "log":
		station = s.log()
	case name == "bulk" && s.bulk.Of > 0:
		station = s.bulk
	case name == "bulk":
	case name == "client-go/informer":
		station = s.got
	default:
		if theirs, ok := strings.CutPrefix(name, "client-go/handlers/"); ok {
			station = s.theirs[theirs].station(-1)
		} else {
			station = s.handlers[strings.TrimPrefix(name, "handlers/")].station(s.end)
		}
	}
	text, err := json.Marshal(station)
	if err != nil {
		panic(err) // there is nothing in it that cannot be encoded
	}
	return text
}

// station is the handler as the page gets it; end is that of the log, or -1.
func (h *handlerState) station(end int) *handlerStation {
	if h == nil {
		return nil
	}
	shown := h.handlerStation
	shown.Waiting = h.waiting()
	if end >= 0 {
		at := max(0, end-shown.Waiting)
		shown.Folded, shown.At = &h.folded, &at
	}
	return &shown
}

// showStore has the keys of the objects that changed last, and the values of theirs.
func (s *stations) showStore() storeStation {
	shown := storeStation{Objects: len(s.keys.at), Version: s.version, Keys: []string{},
		Indexes: map[string]map[string]int{}, Values: map[string]int{}}
	for _, key := range s.keys.first(shownKeys) {
		shown.Keys = append(shown.Keys, key.text)
	}
	for name, values := range s.indexes {
		shown.Indexes[name], shown.Values[name] = map[string]int{}, len(values.at)
		for _, value := range values.first(shownValues) {
			shown.Indexes[name][value.text] = value.n
		}
	}
	return shown
}

func (s *stations) log() logStation {
	shown := logStation{End: s.end, Start: s.end, Chunks: slices.Clone(s.chunks)}
	for _, h := range s.handlers {
		shown.Start = min(shown.Start, max(0, s.end-h.waiting()))
	}
	end := s.end
	for i := len(shown.Chunks) - 1; i >= 0; i-- {
		shown.Chunks[i].Used = end - shown.Chunks[i].First
		end = shown.Chunks[i].First
	}
	return shown
}

// take encodes the stations that have changed since the last call.
func (s *stations) take() map[string]json.RawMessage {
	set := make(map[string]json.RawMessage, len(s.dirty))
	for name := range s.dirty {
		set[name] = s.show(name)
	}
	clear(s.dirty)
	return set
}

// ms is a time as the page has it.
func ms(t time.Time) int64 { return t.UnixMilli() }
