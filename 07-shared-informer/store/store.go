// Package store is our own store with indexes, a cache.Indexer like client-go's. Readers do not
// block writers: a reader of many objects takes a snapshot, and reads the snapshot while others
// write to the store.
package store

import (
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// Options of a Store.
type Options struct {
	// KeyFunction returns the key of an object. Default:
	// cache.DeletionHandlingMetaNamespaceKeyFunc, which accepts tombstones, too.
	KeyFunction cache.KeyFunc

	// Indexers are the first indexes, by name. AddIndexers adds more. Default: none.
	Indexers cache.Indexers

	// Identifier and MetricsProvider are the arguments of cache.WithStoreMetrics: the name under
	// which the store publishes its version as a metric, and the provider of the metric. Default:
	// the store publishes no metric.
	Identifier      cache.InformerNameAndResource
	MetricsProvider cache.InformerMetricsProvider
}

// A Store is a cache.Indexer. It can be read and written from any goroutine.
//
// What you can rely on:
//   - A write never waits while a reader reads a list, the objects of an index, or a snapshot.
//   - A list, the objects of an index, and a snapshot show one state of the store: all writes up to
//     some moment, and no write after it.
//   - A write changes the store and all indexes, or it returns an error and changes nothing. If an
//     index function fails or panics, the write returns an error.
//   - A delete calls no index function, and fails only if its object has no key. An index returns an
//     object only under the values that the index function returned when the object was stored.
//
// All readers share the objects: copy an object before you change it.
type Store struct {
	keyFunc cache.KeyFunc

	// metrics is an empty store of client-go's. Its Bookmark publishes a version as a metric. We
	// need this store because the provider that was set with cache.SetInformerMetricsProvider is
	// private to client-go. It is nil if the store publishes no metric.
	metrics cache.ThreadSafeStore

	// mu is held for a whole write, and for the moment in which a reader takes a snapshot. It
	// guards the counter of generations.
	mu sync.Mutex

	// stateMu is held as well while a write changes the state. So the state may be read with either
	// lock. Readers of one object take stateMu. All other readers take mu.
	stateMu sync.RWMutex
	state
}

var _ cache.Indexer = (*Store)(nil)

// New returns an empty store.
func New(options Options) *Store {
	s := &Store{keyFunc: options.KeyFunction, state: newState(&generationCounter{}, 0)}
	if s.keyFunc == nil {
		s.keyFunc = cache.DeletionHandlingMetaNamespaceKeyFunc
	}
	if options.Identifier.Reserved() {
		s.metrics = cache.NewThreadSafeStore(cache.Indexers{}, cache.Indices{},
			cache.WithThreadSafeStoreMetrics(options.Identifier, options.MetricsProvider))
	}
	for name, function := range options.Indexers {
		x, _ := s.newIndex(name, function) // no error: there are no objects yet
		s.indexes = append(s.indexes, x)
	}
	return s
}

// Add stores an object under its key. It replaces the object that has this key.
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

// Delete removes the object that has the key of obj.
func (s *Store) Delete(obj any) error {
	key, err := s.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	s.Remove(key, obj)
	return nil
}

// Put stores an object under a key. It returns the object that had this key before, or nil.
func (s *Store) Put(key string, obj any) (old any, err error) {
	rv, rvErr := rvFromObject(obj)
	s.mu.Lock()
	defer s.mu.Unlock()
	values := make([][]string, 0, 8) // by index; on the stack
	for _, x := range s.indexes {
		computed, err := x.compute(key, obj)
		if err != nil {
			return nil, err
		}
		values = append(values, computed)
	}
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	slot, exists := s.slots[key]
	if exists {
		old = s.objects.get(slot)
	} else {
		slot = s.newSlot(key)
	}
	s.objects.set(slot, obj)
	for i, x := range s.indexes {
		x.set(slot, values[i])
	}
	if rvErr == nil {
		s.setRV(rv)
	}
	return old, nil
}

// Remove removes the object with this key. It returns the object, or nil if there is none. The
// store takes the resource version of last, which is the last state of the object, or nil if it is
// not known.
func (s *Store) Remove(key string, last any) (old any) {
	rv, rvErr := rvFromObject(last)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	if slot, exists := s.slots[key]; exists {
		old = s.objects.get(slot)
		for _, x := range s.indexes {
			x.set(slot, nil)
		}
		s.freeSlot(key, slot)
	}
	if rvErr == nil {
		s.setRV(rv)
	}
	return old
}

// Replace replaces the contents of the store with a list, which has this resource version. If
// several objects have the same key, the last one is stored.
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

// ReplaceAll is Replace for objects whose keys are known. It returns the changes of the objects in
// the list, in the order of the list, and the changes of the objects that are not in the list any
// more.
func (s *Store) ReplaceAll(keys []string, objs []any, version string) (listed, gone []indexer.Change, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next, listed, kept := s.next(keys, objs)
	next.rv = version
	for _, old := range s.indexes {
		x, err := next.newIndex(old.name, old.function)
		if err != nil {
			return nil, nil, err
		}
		next.indexes = append(next.indexes, x)
	}
	if kept < len(s.slots) {
		gone = s.missing(&next)
	}
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	s.state = next
	s.publish()
	return listed, gone, nil
}

// AddIndexers adds indexes. They have the objects that are stored already, too.
func (s *Store) AddIndexers(indexers cache.Indexers) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := slices.Clone(s.indexes)
	for name, function := range indexers {
		if s.index(name) != nil {
			return fmt.Errorf("indexer conflict: there is an index %q already", name)
		}
		x, err := s.newIndex(name, function)
		if err != nil {
			return err
		}
		all = append(all, x)
	}
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	s.indexes = all
	return nil
}

// Bookmark sets the resource version of the store.
func (s *Store) Bookmark(version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stateMu.Lock()
	defer s.stateMu.Unlock()
	s.setRV(version)
}

// rvFromObject returns the resource version of an object, or an error if obj is not a Kubernetes
// object. For a nil pointer it panics, as in client-go. So a write calls it before it changes
// anything.
func rvFromObject(obj any) (rv string, err error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}

// setRV sets the resource version of the store, and publishes it. The caller holds both locks.
func (s *Store) setRV(rv string) {
	s.rv = rv
	s.publish()
}

// publish publishes the resource version as a metric.
func (s *Store) publish() {
	if s.metrics != nil {
		s.metrics.Bookmark(s.rv)
	}
}

// Resync does nothing: only a queue can deliver objects again.
func (s *Store) Resync() error { return nil }
