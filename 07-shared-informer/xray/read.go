// What the pages read from a recorder.

package xray

import (
	"bytes"
	"maps"
	"slices"
	"time"
)

// state is all stations, as they are after the last record.
func (r *recorder) state() snapshot {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.snapshot()
}

func (r *recorder) snapshot() snapshot {
	return snapshot{
		Seq: r.seq, Time: ms(time.Now()), Informer: r.subject.Name, Kind: r.subject.Kind, Set: maps.Clone(r.published),
	}
}

// after returns the records after seq up to last as a JSON array, as many as one message
// may have; nil if there are none. If it no longer has all of them, or there are too
// many, ok is false: then s is what to begin with. It is the same for seq -1. More is
// closed when there is more, and nil if there is more already.
func (r *recorder) after(seq int64) (s snapshot, records []byte, last int64, more <-chan struct{}, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	behind := int(r.seq - seq)
	if seq < 0 || behind > maxBehind || behind > len(r.kept) {
		return r.snapshot(), nil, r.seq, r.more, false
	}
	last, more = seq, r.more
	var texts [][]byte
	size := 0
	for _, record := range r.kept[len(r.kept)-behind:] {
		if size += len(record.text) + 1; size > maxMessage && texts != nil {
			more = nil
			break
		}
		texts, last = append(texts, record.text), record.seq
	}
	if behind > 0 {
		records = slices.Concat([]byte("["), bytes.Join(texts, []byte(",")), []byte("]"))
	}
	return snapshot{}, records, last, more, true
}

// object returns what a record is about. It is false if the record is no longer kept.
func (r *recorder) object(seq int64) (keptRecord, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if i := len(r.kept) - 1 - int(r.seq-seq); seq <= r.seq && i >= 0 {
		return r.kept[i], true
	}
	return keptRecord{}, false
}

// calls are the last ones of a handler, the newest first.
func (r *recorder) calls(lane, name string) (calls []call, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := map[string]map[string]*handlerState{ours: r.stations.handlers, clientGo: r.stations.theirs}[lane][name]
	if h == nil {
		return nil, false
	}
	calls = append([]call{}, h.calls...) // never null
	slices.Reverse(calls)
	return calls, true
}

// lastKey is that of the object that changed last; empty if there is none.
func (r *recorder) lastKey() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range r.stations.keys.first(1) {
		return key.text
	}
	return ""
}
