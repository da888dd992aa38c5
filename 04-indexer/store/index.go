// Indexes: which objects have a value that a function computes.

package store

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// An index knows, for each value, the slots of the objects that have it; and for
// each slot the values that its object was stored under. What the function says
// of an object later does not count: somebody may have changed the object.
type index struct {
	name     string
	function cache.IndexFunc
	postings map[string]*posting // by value
	stored   []*entry            // by slot; nil if there are no values
}

// A posting is a value, and the slots of the objects that have it.
type posting struct {
	value string
	slots slotSet
	last  entry // of this posting, for each object that has no value after this one
}

// An entry is one value of an object, and leads to the next. Most objects have one
// value in an index. They share the entry in its posting.
type entry struct {
	*posting
	next *entry
}

func newIndex(name string, function cache.IndexFunc) *index {
	return &index{name: name, function: function, postings: map[string]*posting{}}
}

// compute calls the index function. A panic is an error.
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

// set makes these the values of the object in a slot, in the place of those that
// it was stored under.
func (x *index) set(generation uint64, slot int, values []string) {
	if slot >= len(x.stored) {
		x.stored = append(x.stored, make([]*entry, slot+1-len(x.stored))...)
	}
	if x.stored[slot].equal(values) {
		return
	}
	for e := x.stored[slot]; e != nil; e = e.next {
		if e.slots.remove(generation, slot); e.slots.count == 0 {
			delete(x.postings, e.value)
		}
	}
	var first *entry
	for _, value := range slices.Backward(values) {
		p := x.postings[value]
		if p == nil {
			p = &posting{value: value}
			p.last.posting = p
			x.postings[value] = p
		}
		p.slots.add(generation, slot)
		if first == nil {
			first = &p.last
		} else {
			first = &entry{p, first}
		}
	}
	x.stored[slot] = first
}

// equal says whether these are the values, in order.
func (e *entry) equal(values []string) bool {
	for _, value := range values {
		if e == nil || e.value != value {
			return false
		}
		e = e.next
	}
	return e == nil
}

// fill puts all objects into an empty index.
func (s *state) fill(generation uint64, x *index) error {
	x.stored = make([]*entry, s.size)
	for slot := range s.used.all() {
		values, err := x.compute(s.keys.get(slot), s.objects.get(slot))
		if err != nil {
			return err
		}
		x.set(generation, slot, values)
	}
	return nil
}

// index returns the index with a name, or nil.
func (s *state) index(name string) *index {
	for _, x := range s.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}
