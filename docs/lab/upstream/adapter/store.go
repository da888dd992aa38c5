// Package adapter has the constructors that client-go's tests call, for our reflector, our store and our informer. It
// also has methods in the place of the private fields that these tests read.
package adapter

import (
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/store"
)

// NewStore is cache.NewStore, without options.
func NewStore(key cache.KeyFunc) cache.Store { return NewIndexer(key, nil) }

// NewIndexer is cache.NewIndexer, without options.
func NewIndexer(key cache.KeyFunc, indexers cache.Indexers) cache.Indexer {
	return store.New(store.Options{KeyFunction: key, Indexers: indexers})
}

// A ThreadSafeStore is our store as a cache.ThreadSafeStoreWithTransaction: the caller passes the keys.
type ThreadSafeStore struct{ *store.Store }

var _ cache.ThreadSafeStoreWithTransaction = (*ThreadSafeStore)(nil)

// NewThreadSafeStore is cache.NewThreadSafeStore, without options. It ignores the indices: no test passes any.
func NewThreadSafeStore(indexers cache.Indexers, _ cache.Indices) cache.ThreadSafeStore {
	return &ThreadSafeStore{store.New(store.Options{Indexers: indexers})}
}

// Add stores an object. As in client-go, it panics if an index function fails.
func (s *ThreadSafeStore) Add(key string, obj any) {
	_, err := s.Put(key, obj)
	panicOn(err)
}

// Update is Add.
func (s *ThreadSafeStore) Update(key string, obj any) { s.Add(key, obj) }

// Delete removes an object whose last state is unknown.
func (s *ThreadSafeStore) Delete(key string) { s.DeleteWithObject(key, nil) }

// DeleteWithObject removes an object. Its last state is obj.
func (s *ThreadSafeStore) DeleteWithObject(key string, obj any) { s.Remove(key, obj) }

// Get returns the object with a key.
func (s *ThreadSafeStore) Get(key string) (item any, exists bool) {
	item, exists, _ = s.GetByKey(key)
	return item, exists
}

// Replace replaces all objects.
func (s *ThreadSafeStore) Replace(items map[string]any, version string) {
	keys, objs := make([]string, 0, len(items)), make([]any, 0, len(items))
	for key, obj := range items {
		keys, objs = append(keys, key), append(objs, obj)
	}
	_, _, err := s.ReplaceAll(keys, objs, version)
	panicOn(err)
}

// Transaction makes one write after the other. Our store has no such method: no reader holds up a write, so a
// transaction would save no time.
func (s *ThreadSafeStore) Transaction(writes ...cache.ThreadSafeStoreTransaction) {
	for _, write := range writes {
		if write.Type == cache.TransactionTypeDelete {
			s.DeleteWithObject(write.Key, write.Object)
		} else {
			s.Add(write.Key, write.Object)
		}
	}
}

// Indices returns the keys of all objects, by index and value. It must have no value without an object.
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
