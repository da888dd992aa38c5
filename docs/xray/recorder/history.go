// The history: the last records, with the chips that travel from station to station on the page, and
// with their objects.

package recorder

import (
	"encoding/json"
	"slices"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
)

// The limits of the history.
const (
	MaxRecords = 5_000
	MaxBytes   = 30_000_000 // of records and objects as JSON; in memory they take somewhat more
)

// A record is what a page gets about an event.
type record struct {
	Seq            int64          `json:"seq"`
	Time           int64          `json:"time"` // Unix milliseconds
	Implementation Implementation `json:"implementation"`
	Kind           string         `json:"kind"`
	Chip           *chip          `json:"chip"`
	Caption        *caption       `json:"caption"`
	Skipped        int            `json:"skipped"` // events just before this one that have no record
}

// A keptRecord is a record as JSON, with its object.
type keptRecord struct {
	text json.RawMessage
	Object
}

func (k *keptRecord) size() int { return len(k.text) + len(k.Before) + len(k.After) }

// A history numbers records from 1, and keeps the last ones without a gap.
type history struct {
	seq   int64        // the number of the last record
	kept  []keptRecord // at most MaxRecords
	bytes int          // the size of the kept records, at most MaxBytes
}

// add numbers a record and keeps it. The oldest records make room for it.
func (h *history) add(r record, object Object) {
	h.seq++
	r.Seq = h.seq
	added := keptRecord{text: encode(r), Object: object}
	h.kept = append(h.kept, added)
	h.bytes += added.size()
	for h.bytes > MaxBytes || len(h.kept) > MaxRecords {
		h.bytes -= h.kept[0].size()
		h.kept[0] = keptRecord{} // or the array would keep its texts in memory
		h.kept = h.kept[1:]
	}
}

// get returns a record by its number. It is false if there is no such record, or if it is no longer
// kept.
func (h *history) get(seq int64) (keptRecord, bool) {
	first := h.seq - int64(len(h.kept)) + 1
	if seq < first || seq > h.seq {
		return keptRecord{}, false
	}
	return h.kept[seq-first], true
}

// after returns the last of the records after seq, as many as fit into so many bytes. missed is the
// number of the records after seq that it leaves out.
func (h *history) after(seq int64, room int) (records []json.RawMessage, missed int64) {
	for last := h.seq; last > seq; last-- {
		r, ok := h.get(last)
		room -= len(r.text) + 1 // a comma
		if !ok || room < 0 {
			missed = last - seq
			break
		}
		records = append(records, r.text)
	}
	slices.Reverse(records)
	return records, missed
}

// A chip is an object on its way from one station to another.
type chip struct {
	Key    string `json:"key"`
	Name   string `json:"name"`
	Change string `json:"change"`
	From   string `json:"from"`
	To     string `json:"to"`
	Object bool   `json:"object"` // the object can be shown
}

// chipOf returns the chip of an event that was applied to the state, or nil if no object travels.
func chipOf(e *event, s *state, shown bool) *chip {
	if e.change == nil {
		return nil
	}
	c := &chip{Key: e.change.Key, Name: nameOf(e.change.Key), Change: changeWord(e.change), Object: shown}
	switch w := e.what.(type) {
	case observer.Received, ListReceived:
		c.From, c.To = stationServer, e.implementation.station(stationReflector)
		if e.implementation == ClientGo {
			c.To = ClientGo.station(stationInformer)
		}
		if e.change.Initial && s.clientGo.known.Has(c.Key) {
			c.Change = "resync" // a relist
		}
	case deltaQueued:
		c.Change, c.Name = w.word, nameOf(w.key)
		c.From, c.To = e.implementation.station(stationReflector), e.implementation.station(stationQueue)
	case informer.Stored:
		c.From, c.To = e.implementation.station(stationReflector), e.implementation.station(stationStore)
		if s.informers[e.implementation].Queue != "" {
			c.From = e.implementation.station(stationQueue)
		}
	case processor.Appended:
		c.From = e.implementation.station(stationStore)
		c.To = e.implementation.station(s.informers[e.implementation].Fanout)
	case HandlerCalled:
		c.From, c.To = sourceOfCalls(e.implementation, s), handlerStation(e.implementation, w.Name)
		if h := s.handlers[e.implementation][w.Name]; h != nil && h.fromStore {
			c.From = e.implementation.station(stationStore)
		}
	}
	return c
}

// sourceOfCalls returns the station from which handlers get notifications.
func sourceOfCalls(implementation Implementation, s *state) string {
	if implementation == ClientGo {
		return ClientGo.station(stationInformer)
	}
	return implementation.station(s.informers[implementation].Fanout)
}
