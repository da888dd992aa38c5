// The contents of a store, in slots.

package store

import (
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// A state is the contents of a store.
type state struct {
	// counter counts the snapshots. All parts of the state have this counter. A snapshot starts a
	// new generation: it shares all parts that the store has at that moment, and all of them are of
	// an earlier generation. A write copies a part of an earlier generation before it changes the
	// part.
	counter *generationCounter

	slots   map[string]int     // the slot of each key
	used    slotSet            // the slots that are in use
	free    []int              // slots that were in use, and are not in use now
	size    int                // number of slots that were ever in use
	keys    pagedArray[string] // by slot
	objects pagedArray[any]    // by slot
	indexes []*index
	rv      string // the resource version of this state
}

// newState returns an empty state for size objects.
func newState(counter *generationCounter, size int) state {
	return state{
		counter: counter,
		slots:   make(map[string]int, size),
		used:    slotSet{counter: counter},
		keys:    pagedArray[string]{counter: counter},
		objects: pagedArray[any]{counter: counter},
	}
}

// newSlot takes a slot for a key that has none.
func (s *state) newSlot(key string) (slot int) {
	if last := len(s.free) - 1; last >= 0 {
		slot = s.free[last]
		s.free = s.free[:last]
	} else {
		slot = s.size
		s.size++
	}
	s.slots[key] = slot
	s.used.add(slot)
	s.keys.set(slot, key)
	return slot
}

// freeSlot takes a slot out of use.
func (s *state) freeSlot(key string, slot int) {
	delete(s.slots, key)
	s.free = append(s.free, slot)
	pageIsEmpty := s.used.remove(slot)
	if pageIsEmpty {
		s.keys.drop(slot)
		s.objects.drop(slot)
		return
	}
	s.keys.set(slot, "") // for the garbage collector
	s.objects.set(slot, nil)
}

// next returns a state with these objects, and without indexes. It also returns the changes from
// this state to the next, in the order of the list, and the number of objects that both states
// have.
func (s *state) next(keys []string, objs []any) (next state, listed []indexer.Change, kept int) {
	next = newState(s.counter, len(objs))
	listed = make([]indexer.Change, 0, len(objs)) // by slot: a new state gives out its slots in order
	for i, key := range keys {
		slot, isDuplicate := next.slots[key]
		if !isDuplicate {
			slot = next.newSlot(key)
			change := indexer.Change{Key: key}
			if oldSlot, ok := s.slots[key]; ok {
				change.Old = s.objects.get(oldSlot)
				kept++
			}
			listed = append(listed, change)
		}
		next.objects.set(slot, objs[i])
		listed[slot].New = objs[i]
	}
	return next, listed, kept
}

// missing returns the objects that the next state does not have.
func (s *state) missing(next *state) (gone []indexer.Change) {
	for slot := range s.used.all() {
		key := s.keys.get(slot)
		if _, ok := next.slots[key]; !ok {
			gone = append(gone, indexer.Change{Key: key, Old: s.objects.get(slot)})
		}
	}
	return gone
}

// newIndex returns an index of all objects of the state.
func (s *state) newIndex(name string, function cache.IndexFunc) (*index, error) {
	x := &index{name: name, function: function, counter: s.counter, postings: map[string]*posting{}}
	x.stored = make([]*entry, s.size)
	for slot := range s.used.all() {
		values, err := x.compute(s.keys.get(slot), s.objects.get(slot))
		if err != nil {
			return nil, err
		}
		x.set(slot, values)
	}
	return x, nil
}

// index returns the index with this name, or nil.
func (s *state) index(name string) *index {
	for _, x := range s.indexes {
		if x.name == name {
			return x
		}
	}
	return nil
}
