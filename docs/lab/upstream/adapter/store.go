// Package adapter has the constructors that client-go's tests call, for our reflector, our stores
// and our informer. It also has methods in the place of the private fields that these tests read.
package adapter

import (
	"maps"
	"os"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/store"
)

// PlainStore is a variable of the environment. If it is set, the tests get the store of chapter 04,
// else the store of snapshots.
const PlainStore = "ADAPTER_PLAIN_STORE"

// NewStore is cache.NewStore, without options.
func NewStore(key cache.KeyFunc) cache.Store { return NewIndexer(key, nil) }

// NewIndexer is cache.NewIndexer, without options.
func NewIndexer(key cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
	if os.Getenv(PlainStore) != "" {
		return indexer.New(key, indexers)
	}
	return store.New(store.Options{KeyFunction: key, Indexers: indexers})
}

// A ThreadSafeStore is a cache.ThreadSafeStoreWithTransaction: one of our stores, with the keys
// given by the caller.
type ThreadSafeStore struct {
	cache.Indexer

	lock sync.Mutex // held for a write
	keys []string   // of the objects that are written now, in order
}

var _ cache.ThreadSafeStoreWithTransaction = (*ThreadSafeStore)(nil)

// NewThreadSafeStore is cache.NewThreadSafeStore, without options. It ignores the indices: no test
// passes any.
func NewThreadSafeStore(indexers cache.Indexers, _ cache.Indices) cache.ThreadSafeStore {
	s := &ThreadSafeStore{}
	s.Indexer = NewIndexer(s.nextKey, indexers)
	return s
}

// nextKey is the key function: a write has put its keys there.
func (s *ThreadSafeStore) nextKey(any) (key string, _ error) {
	key, s.keys = s.keys[0], s.keys[1:]
	return key, nil
}

// write calls a method of the store that asks for these keys. As in client-go, an index function
// that fails is a panic.
func (s *ThreadSafeStore) write(method func() error, keys ...string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.keys = keys
	panicOn(method())
}

// Add stores an object.
func (s *ThreadSafeStore) Add(key string, obj any) {
	s.write(func() error { return s.Indexer.Add(obj) }, key)
}

// Update stores an object.
func (s *ThreadSafeStore) Update(key string, obj any) {
	s.write(func() error { return s.Indexer.Update(obj) }, key)
}

// Delete removes an object whose last state is unknown.
func (s *ThreadSafeStore) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes an object. Its last state is obj.
func (s *ThreadSafeStore) DeleteWithObject(key string, obj any) {
	s.write(func() error { return s.Indexer.Delete(obj) }, key)
}

// Get returns the object with a key.
func (s *ThreadSafeStore) Get(key string) (item any, exists bool) {
	item, exists, _ = s.GetByKey(key)
	return item, exists
}

// Replace replaces all objects.
func (s *ThreadSafeStore) Replace(items map[string]any, version string) {
	keys, objs := slices.Collect(maps.Keys(items)), make([]any, 0, len(items))
	for _, key := range keys {
		objs = append(objs, items[key])
	}
	s.write(func() error { return s.Indexer.Replace(objs, version) }, keys...)
}

// Transaction makes one write after the other. Our stores have no such method.
func (s *ThreadSafeStore) Transaction(writes ...cache.ThreadSafeStoreTransaction) {
	for _, write := range writes {
		if write.Type == cache.TransactionTypeDelete {
			s.DeleteWithObject(write.Key, write.Object)
		} else {
			s.Add(write.Key, write.Object)
		}
	}
}

// Indices returns the keys of all objects, by index and value. It must have no value without an
// object.
func (s *ThreadSafeStore) Indices() map[string]map[string]sets.Set[string] {
	indices := map[string]map[string]sets.Set[string]{}
	for name := range s.GetIndexers() {
		indices[name] = map[string]sets.Set[string]{}
		for _, value := range s.ListIndexFuncValues(name) {
			keys, err := s.IndexKeys(name, value)
			panicOn(err)
			indices[name][value] = sets.New(keys...)
		}
	}
	return indices
}

func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}
