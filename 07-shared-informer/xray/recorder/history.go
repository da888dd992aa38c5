// The history: the last records, and the objects that they are about.

package recorder

import (
	"encoding/json"
	"slices"
)

// What is kept at most.
const (
	KeptRecords = 5_000
	KeptBytes   = 30_000_000 // of records and objects; they take somewhat more memory
)

// A kept record is in JSON, and so is its object before and after, shortened.
type kept struct {
	text, before, after json.RawMessage
	key                 string
}

func (k *kept) size() int { return len(k.text) + len(k.before) + len(k.after) }

// A history numbers records from 1, and keeps the last ones, without a gap.
type history struct {
	seq   int64 // of the last one
	kept  []kept
	bytes int // the size of those
}

func (h *history) add(record fields, about kept) {
	h.seq++
	record["seq"] = h.seq
	about.text = encode(record)
	h.kept = append(h.kept, about)
	h.bytes += about.size()
	for h.bytes > KeptBytes || len(h.kept) > KeptRecords {
		h.bytes -= h.kept[0].size()
		h.kept[0] = kept{} // or the array would hold its texts
		h.kept = h.kept[1:]
	}
}

// at is false if the record is no longer kept.
func (h *history) at(seq int64) (kept, bool) {
	if i := int64(len(h.kept)) - 1 - (h.seq - seq); seq <= h.seq && i >= 0 {
		return h.kept[i], true
	}
	return kept{}, false
}

// after are the last records after one, as many as there is room for, in bytes; missed is
// the number of the others.
func (h *history) after(seq int64, room int) (records []json.RawMessage, missed int64) {
	for last := h.seq; last > seq; last-- {
		record, ok := h.at(last)
		if room -= len(record.text) + 1; !ok || room < 0 {
			missed = last - seq
			break
		}
		records = append(records, record.text)
	}
	slices.Reverse(records)
	return records, missed
}
