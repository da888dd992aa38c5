// Indexes: which objects have a value that a function computes.

package store

import (
	"fmt"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// An index knows, for each value, the slots of the objects that have it.
type index struct {
	name     string
	function cache.IndexFunc
	values   map[string]*slotSet
}

func newIndex(name string, function cache.IndexFunc) *index {
	return &index{name: name, function: function, values: map[string]*slotSet{}}
}

// A move is what a write does to one index: an object loses some values and gets
// others.
type move struct{ from, to []string }

// computeMoves computes what a write does to each index, before anything is
// changed. Old is nil for a new object, and obj for a delete.
func (s *Store) computeMoves(key string, old, obj any) (err error) {
	s.moves = append(s.moves[:0], make([]move, len(s.indexes))...)
	for i, x := range s.indexes {
		if old != nil {
			if s.moves[i].from, err = x.compute(key, old); err != nil {
				return err
			}
		}
		if obj != nil {
			if s.moves[i].to, err = x.compute(key, obj); err != nil {
				return err
			}
		}
	}
	return nil
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

// apply makes a move.
func (x *index) apply(generation uint64, slot int, m move) {
	if slices.Equal(m.from, m.to) {
		return
	}
	for _, value := range m.from {
		set := x.values[value]
		if set == nil {
			continue // somebody has changed the object since it was stored
		}
		if set.remove(generation, slot); set.count == 0 {
			delete(x.values, value)
		}
	}
	for _, value := range m.to {
		set := x.values[value]
		if set == nil {
			set = &slotSet{generation: generation}
			x.values[value] = set
		}
		set.add(generation, slot)
	}
}

// fill puts all objects into an empty index.
func (s *state) fill(generation uint64, x *index) error {
	for slot := range s.used.all() {
		values, err := x.compute(s.keys.get(slot), s.objects.get(slot))
		if err != nil {
			return err
		}
		x.apply(generation, slot, move{to: values})
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
