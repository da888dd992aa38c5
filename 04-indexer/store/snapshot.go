// Reading: what a store holds at one moment.

package store

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A Snapshot is what a Store held at one moment. It stays like that: nobody can
// change it, and no lock is needed to read it. What has not changed since, it
// shares with the store.
type Snapshot struct {
	used    slotSet
	keys    pagedArray[string]
	objects pagedArray[any]
	rv      string
}

// Snapshot returns the present state. That takes as long for a million objects
// as for one.
func (s *Store) Snapshot() Snapshot {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.snapshot(s.used)
}

// snapshot returns these slots of the present state. The caller holds lock.
func (s *Store) snapshot(used slotSet) Snapshot {
	s.generation++
	return Snapshot{used, s.keys, s.objects, s.rv}
}

// Version is the resource version that the snapshot is as of.
func (s Snapshot) Version() string { return s.rv }

// Len is the number of objects.
func (s Snapshot) Len() int { return s.used.count }

// All gives the objects with their keys, in no particular order.
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

// List returns all objects, in no particular order.
func (s *Store) List() []any { return s.Snapshot().List() }

// ListKeys returns all keys, in no particular order.
func (s *Store) ListKeys() []string { return s.Snapshot().ListKeys() }

// Get returns the object that has the key of this one.
func (s *Store) Get(obj any) (item any, exists bool, err error) {
	key, err := s.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return s.GetByKey(key)
}

// GetByKey returns the object with a key. There is never an error.
func (s *Store) GetByKey(key string) (item any, exists bool, err error) {
	s.one.RLock()
	defer s.one.RUnlock()
	slot, exists := s.slots[key]
	if exists {
		item = s.objects.get(slot)
	}
	return item, exists, nil
}

// ByIndex returns the objects for which an index has a value, in no particular
// order.
func (s *Store) ByIndex(name, value string) ([]any, error) {
	found, err := s.find(name, value)
	if err != nil {
		return nil, err
	}
	return found.List(), nil
}

// IndexKeys returns the keys of the objects for which an index has a value,
// sorted.
func (s *Store) IndexKeys(name, value string) ([]string, error) {
	found, err := s.find(name, value)
	if err != nil {
		return nil, err
	}
	keys := found.ListKeys()
	slices.Sort(keys)
	return keys, nil
}

// Index returns the objects that have a value in common with obj, in no
// particular order.
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

// find returns the objects for which an index has one of these values.
func (s *Store) find(name string, values ...string) (Snapshot, error) {
	s.lock.Lock()
	x := s.index(name)
	if x == nil {
		s.lock.Unlock()
		return Snapshot{}, errNoIndex(name)
	}
	var sets []slotSet
	for _, value := range values {
		if p := x.postings[value]; p != nil {
			sets = append(sets, p.slots)
		}
	}
	found := s.snapshot(slotSet{})
	generation := s.generation // of none of these sets
	s.lock.Unlock()

	for i, set := range sets {
		if i == 0 {
			found.used = set
			continue
		}
		for slot := range set.all() {
			found.used.add(generation, slot)
		}
	}
	return found, nil
}

func errNoIndex(name string) error {
	return fmt.Errorf("Index with name %s does not exist", name) // client-go's words
}

// ListIndexFuncValues returns the values of an index, in no particular order;
// none if there is no such index. Of all reads it alone holds up a write until it
// has them all.
func (s *Store) ListIndexFuncValues(name string) []string {
	s.lock.Lock()
	defer s.lock.Unlock()
	x := s.index(name)
	if x == nil {
		return []string{}
	}
	return slices.AppendSeq([]string{}, maps.Keys(x.postings)) // never nil
}

// GetIndexers returns the index functions by name.
func (s *Store) GetIndexers() cache.Indexers {
	s.one.RLock()
	defer s.one.RUnlock()
	indexers := cache.Indexers{}
	for _, x := range s.indexes {
		indexers[x.name] = x.function
	}
	return indexers
}

// LastStoreSyncResourceVersion is the version that the store is as of.
func (s *Store) LastStoreSyncResourceVersion() string {
	s.one.RLock()
	defer s.one.RUnlock()
	return s.rv
}
