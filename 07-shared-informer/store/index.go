// Indexes: the objects of each value that an index function computes.

package store

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// An index has, for each value, the slots of the objects with this value. It has, for each slot,
// the values under which its object is stored. The index does not call the function again for a
// stored object, because somebody may have changed the object.
type index struct {
	name     string
	function cache.IndexFunc
	counter  *generationCounter
	postings map[string]*posting // by value
	stored   []*entry            // by slot; nil if the object has no values
}

// A posting is a value, and the slots of the objects with this value.
type posting struct {
	value string
	slots slotSet
	last  entry // refers to this posting; shared by all objects whose last value this is
}

// An entry is one value of an object, and refers to the next value. Most objects have one value in
// an index. These objects share the entry of the posting.
type entry struct {
	*posting
	next *entry
}

// compute calls the index function. It turns a panic into an error.
func (x *index) compute(key string, obj any) (values []string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the index function panicked: %v", p)
		}
		if err != nil {
			err = fmt.Errorf("unable to calculate an index entry for key %q on index %q: %w", key, x.name, err)
		}
	}()
	return x.function(obj)
}

// set stores the object in a slot under these values, and no longer under its old values.
func (x *index) set(slot int, values []string) {
	if slot >= len(x.stored) {
		x.stored = append(x.stored, make([]*entry, slot+1-len(x.stored))...)
	}
	if x.stored[slot].equal(values) {
		return
	}
	for e := x.stored[slot]; e != nil; e = e.next {
		e.slots.remove(slot)
		if e.slots.count == 0 {
			delete(x.postings, e.value)
		}
	}
	var first *entry
	for _, value := range slices.Backward(values) {
		p := x.posting(value)
		p.slots.add(slot)
		if first == nil {
			first = &p.last
		} else {
			first = &entry{posting: p, next: first}
		}
	}
	x.stored[slot] = first
}

// posting returns the posting of a value. It adds one if there is none.
func (x *index) posting(value string) *posting {
	if p, ok := x.postings[value]; ok {
		return p
	}
	p := &posting{value: value, slots: slotSet{counter: x.counter}}
	p.last.posting = p
	x.postings[value] = p
	return p
}

// equal reports whether the entries have these values, in this order.
func (e *entry) equal(values []string) bool {
	for _, value := range values {
		if e == nil || e.value != value {
			return false
		}
		e = e.next
	}
	return e == nil
}
