// Reading: snapshots, and the methods of a Store that read.

package store

import (
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A Snapshot is the state of a Store at one moment. It never changes, and a reader of it needs no
// lock. It shares its pages with the store, until a write changes them.
type Snapshot struct {
	used    slotSet
	keys    pagedArray[string]
	objects pagedArray[any]
	rv      string
}

// Snapshot returns the present state. It takes as long for a million objects as for one object.
func (s *Store) Snapshot() Snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshot(s.used)
}

// snapshot returns the objects in these slots. The caller holds mu.
func (s *Store) snapshot(used slotSet) Snapshot {
	s.counter.current++
	return Snapshot{used: used, keys: s.keys, objects: s.objects, rv: s.rv}
}

// Version returns the resource version of the snapshot.
func (s Snapshot) Version() string { return s.rv }

// Len returns the number of objects.
func (s Snapshot) Len() int { return s.used.count }

// All yields the keys and the objects, in no particular order.
func (s Snapshot) All() iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		for slot := range s.used.all() {
			if !yield(s.keys.get(slot), s.objects.get(slot)) {
				return
			}
		}
	}
}

// List returns the objects, in no particular order.
func (s Snapshot) List() []any {
	return collect(&s.used, &s.objects)
}

// ListKeys returns the keys, in no particular order.
func (s Snapshot) ListKeys() []string {
	return collect(&s.used, &s.keys)
}

// All yields the keys and the objects of the present state, in no particular order.
func (s *Store) All() iter.Seq2[string, any] { return s.Snapshot().All() }

// List returns all objects, in no particular order.
func (s *Store) List() []any { return s.Snapshot().List() }

// ListKeys returns all keys, in no particular order.
func (s *Store) ListKeys() []string { return s.Snapshot().ListKeys() }

// Get returns the object that has the key of obj.
func (s *Store) Get(obj any) (item any, exists bool, err error) {
	key, err := s.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return s.GetByKey(key)
}

// GetByKey returns the object with this key. The error is always nil.
func (s *Store) GetByKey(key string) (item any, exists bool, err error) {
	s.stateMu.RLock()
	defer s.stateMu.RUnlock()
	slot, exists := s.slots[key]
	if exists {
		item = s.objects.get(slot)
	}
	return item, exists, nil
}

// ByIndex returns the objects that an index has under a value, in no particular order.
func (s *Store) ByIndex(name, value string) ([]any, error) {
	found, err := s.find(name, value)
	if err != nil {
		return nil, err
	}
	return found.List(), nil
}

// IndexKeys returns the keys of the objects that an index has under a value, sorted.
func (s *Store) IndexKeys(name, value string) ([]string, error) {
	found, err := s.find(name, value)
	if err != nil {
		return nil, err
	}
	keys := found.ListKeys()
	slices.Sort(keys)
	return keys, nil
}

// Index returns the objects that have a value in common with obj, in no particular order.
func (s *Store) Index(name string, obj any) ([]any, error) {
	function, ok := s.GetIndexers()[name]
	if !ok {
		return nil, errNoIndex(name)
	}
	values, err := function(obj)
	if err != nil {
		return nil, err
	}
	found, err := s.find(name, values...)
	if err != nil {
		return nil, err
	}
	return found.List(), nil
}

// find returns the objects that an index has under one of these values.
func (s *Store) find(name string, values ...string) (Snapshot, error) {
	found, sets, err := s.slotSets(name, values)
	if err != nil {
		return Snapshot{}, err
	}
	if len(sets) > 0 {
		found.used = sets[0]
	}
	if len(sets) > 1 {
		// No lock is held here. So the union gets a counter of its own, with a generation that no
		// part of the sets has: add copies what it changes.
		found.used.counter = &generationCounter{current: math.MaxUint64}
		for _, set := range sets[1:] {
			for slot := range set.all() {
				found.used.add(slot)
			}
		}
	}
	return found, nil
}

// slotSets returns a snapshot without slots, and the slots of each of these values.
func (s *Store) slotSets(name string, values []string) (snapshot Snapshot, sets []slotSet, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.index(name)
	if x == nil {
		return Snapshot{}, nil, errNoIndex(name)
	}
	for _, value := range values {
		if p, ok := x.postings[value]; ok {
			sets = append(sets, p.slots)
		}
	}
	return s.snapshot(slotSet{}), sets, nil
}

func errNoIndex(name string) error {
	return fmt.Errorf("Index with name %s does not exist", name) // the text of client-go
}

// ListIndexFuncValues returns the values of an index, in no particular order. It returns no values
// if there is no such index. It is the only read for which a write has to wait until the read is
// over.
func (s *Store) ListIndexFuncValues(name string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.index(name)
	if x == nil {
		return []string{}
	}
	return slices.AppendSeq([]string{}, maps.Keys(x.postings)) // never nil
}

// GetIndexers returns the index functions by name. The map is a copy.
func (s *Store) GetIndexers() cache.Indexers {
	s.stateMu.RLock()
	defer s.stateMu.RUnlock()
	indexers := cache.Indexers{}
	for _, x := range s.indexes {
		indexers[x.name] = x.function
	}
	return indexers
}

// LastStoreSyncResourceVersion returns the resource version of the store.
func (s *Store) LastStoreSyncResourceVersion() string {
	s.stateMu.RLock()
	defer s.stateMu.RUnlock()
	return s.rv
}
