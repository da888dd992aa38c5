// Package store is our own store with indexes, a cache.Indexer like client-go's.
// Readers cannot hold it up: a reader of many objects takes a snapshot, and reads
// it while others write.
package store

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// Options of a Store.
type Options struct {
	// KeyFunction names an object. Default: cache.DeletionHandlingMetaNamespaceKeyFunc,
	// which can name a tombstone, too.
	KeyFunction cache.KeyFunc

	// Indexers are the indexes to begin with, by name. AddIndexers adds more.
	Indexers cache.Indexers

	// Identifier and MetricsProvider are what cache.WithStoreMetrics takes: the name
	// under which the store publishes its version, and where. Default: it does not.
	Identifier      cache.InformerNameAndResource
	MetricsProvider cache.InformerMetricsProvider
}

// A Store is a cache.Indexer. It can be read and written from any goroutine.
//
// What you can rely on:
//   - A write never waits until somebody has read a list, the objects of an index,
//     or a snapshot.
//   - What these return is one state that the store was in: all writes up to some
//     moment, and none after it.
//   - A write takes place, in the store and in all indexes, or it returns an error
//     and changes nothing. An index function that fails or panics is such an error.
//   - A delete calls no index function, and always takes place. An index gives an
//     object only under the values that it was stored under.
//
// Objects are shared with everybody: copy one before you change it.
type Store struct {
	keyFunc cache.KeyFunc

	// metrics is an empty store of client-go's. Its Bookmark publishes a version: the
	// provider that cache.SetInformerMetricsProvider has set is private, and only a store
	// of client-go's reaches it. It is nil if nobody wants metrics.
	metrics cache.ThreadSafeStore

	// lock is held for a write, and for the moment in which a reader takes a
	// snapshot. Each snapshot raises the generation. Everything that the store has
	// at that moment is of an earlier generation, and the snapshot shares it. A
	// write copies what is of an earlier generation before it changes it.
	lock       sync.Mutex
	generation uint64

	// state is changed with both locks held, and may be read with either. Readers
	// of one object take this one. All others take lock.
	one sync.RWMutex
	state
}

// A state is all that a store holds.
type state struct {
	slots   map[string]int     // where the object of a key is
	used    slotSet            // the slots that are in use
	free    []int              // slots that were in use and are not now
	size    int                // how many slots were ever in use
	keys    pagedArray[string] // by slot
	objects pagedArray[any]    // by slot
	indexes []*index
	rv      string // the resource version that all of it is as of
}

var _ cache.Indexer = (*Store)(nil)

// New returns an empty store.
func New(options Options) *Store {
	s := &Store{keyFunc: options.KeyFunction, state: state{slots: map[string]int{}}}
	if s.keyFunc == nil {
		s.keyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	if options.Identifier.Reserved() {
		s.metrics = cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{},
			cache.WithThreadSafeStoreMetrics(options.Identifier, options.MetricsProvider))
	}
	for name, function := range options.Indexers {
		s.indexes = append(s.indexes, newIndex(name, function))
	}
	return s
}

// Add stores an object under its key, in the place of the one that is there.
func (s *Store) Add(obj any) error {
	key, err := s.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	_, err = s.Put(key, obj)
	return err
}

// Update is Add.
func (s *Store) Update(obj any) error { return s.Add(obj) }

// Delete removes the object that has the key of this one.
func (s *Store) Delete(obj any) error {
	key, err := s.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	s.Remove(key, obj)
	return nil
}

// Put stores an object under a key, and returns the one that was there, or nil.
func (s *Store) Put(key string, obj any) (old any, err error) {
	rv, rvErr := rvFromObject(obj)
	s.lock.Lock()
	defer s.lock.Unlock()
	values := make([][]string, 0, 8) // by index; on the stack
	for _, x := range s.indexes {
		computed, err := x.compute(key, obj)
		if err != nil {
			return nil, err
		}
		values = append(values, computed)
	}
	s.one.Lock()
	defer s.one.Unlock()
	slot, exists := s.slots[key]
	if exists {
		old = s.objects.get(slot)
	} else {
		slot = s.newSlot(s.generation, key)
	}
	s.objects.set(s.generation, slot, obj)
	for i, x := range s.indexes {
		x.set(s.generation, slot, values[i])
	}
	s.setRV(rv, rvErr)
	return old, nil
}

// Remove removes the object with this key, and returns it, or nil if there was
// none. Last is its last state, whose version the store takes over; nil if nobody
// knows that.
func (s *Store) Remove(key string, last any) (old any) {
	rv, rvErr := rvFromObject(last)
	s.lock.Lock()
	defer s.lock.Unlock()
	s.one.Lock()
	defer s.one.Unlock()
	if slot, exists := s.slots[key]; exists {
		old = s.objects.get(slot)
		for _, x := range s.indexes {
			x.set(s.generation, slot, nil)
		}
		s.freeSlot(s.generation, key, slot)
	}
	s.setRV(rv, rvErr)
	return old
}

// newSlot returns a slot for a key that has none.
func (s *state) newSlot(generation uint64, key string) (slot int) {
	if last := len(s.free) - 1; last >= 0 {
		slot, s.free = s.free[last], s.free[:last]
	} else {
		slot = s.size
		s.size++
	}
	s.slots[key] = slot
	s.used.add(generation, slot)
	s.keys.set(generation, slot, key)
	return slot
}

// freeSlot takes a slot out of use.
func (s *state) freeSlot(generation uint64, key string, slot int) {
	delete(s.slots, key)
	s.free = append(s.free, slot)
	if s.used.remove(generation, slot) {
		s.keys.drop(generation, slot)
		s.objects.drop(generation, slot)
		return
	}
	s.keys.set(generation, slot, "") // for the garbage collector
	s.objects.set(generation, slot, nil)
}

// Replace makes this list the contents of the store, as of a version. The last
// of several objects with one key counts.
func (s *Store) Replace(list []any, version string) error {
	keys := make([]string, len(list))
	for i, obj := range list {
		key, err := s.keyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		keys[i] = key
	}
	_, _, err := s.ReplaceAll(keys, list, version)
	return err
}

// A Change is what a write did to the object of a key. Old or New is nil where
// there is none.
type Change struct {
	Key      string
	Old, New any
}

// ReplaceAll is Replace for objects whose keys are known. It returns what became
// of those that are in the list, in order, and of those that are not.
func (s *Store) ReplaceAll(keys []string, objs []any, version string) (listed, gone []Change, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	next := state{slots: make(map[string]int, len(objs)), rv: version}
	listed = make([]Change, 0, len(objs)) // by slot: in a new state these are given out one after the other
	kept := 0
	for i, key := range keys {
		slot, twice := next.slots[key]
		if !twice {
			slot = next.newSlot(s.generation, key)
			change := Change{Key: key}
			if old, ok := s.slots[key]; ok {
				change.Old = s.objects.get(old)
				kept++
			}
			listed = append(listed, change)
		}
		next.objects.set(s.generation, slot, objs[i])
		listed[slot].New = objs[i]
	}
	for _, x := range s.indexes {
		x = newIndex(x.name, x.function)
		if err := next.fill(s.generation, x); err != nil {
			return nil, nil, err
		}
		next.indexes = append(next.indexes, x)
	}
	if kept < len(s.slots) {
		gone = s.missing(&next)
	}
	s.one.Lock()
	defer s.one.Unlock()
	s.state = next
	s.publish()
	return listed, gone, nil
}

// missing returns what the next state does not have any more.
func (s *state) missing(next *state) (gone []Change) {
	for slot := range s.used.all() {
		key := s.keys.get(slot)
		if _, ok := next.slots[key]; !ok {
			gone = append(gone, Change{Key: key, Old: s.objects.get(slot)})
		}
	}
	return gone
}

// AddIndexers adds indexes, of what is stored already and of what will be.
func (s *Store) AddIndexers(indexers cache.Indexers) error {
	s.lock.Lock()
	defer s.lock.Unlock()
	all := slices.Clone(s.indexes)
	for name, function := range indexers {
		if s.index(name) != nil {
			return fmt.Errorf("indexer conflict: there is an index %q already", name)
		}
		x := newIndex(name, function)
		if err := s.fill(s.generation, x); err != nil {
			return err
		}
		all = append(all, x)
	}
	s.one.Lock()
	defer s.one.Unlock()
	s.indexes = all
	return nil
}

// Bookmark sets the version that the store is as of.
func (s *Store) Bookmark(version string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.one.Lock()
	defer s.one.Unlock()
	s.rv = version
	s.publish()
}

// rvFromObject returns the version of an object; an error if it has none. A write
// calls it before it changes anything: for a nil pointer it panics, as client-go's.
func rvFromObject(obj any) (rv string, err error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}

// setRV takes over what rvFromObject has returned for the object that was written.
func (s *Store) setRV(rv string, err error) {
	if err == nil {
		s.rv = rv
		s.publish()
	}
}

// publish publishes the version as a metric.
func (s *Store) publish() {
	if s.metrics != nil {
		s.metrics.Bookmark(s.rv)
	}
}

// Resync does nothing: there is no queue behind this store.
func (s *Store) Resync() error { return nil }
