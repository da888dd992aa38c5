// Package indexer is a store with indexes, as client-go has it: a map of objects, indexes beside
// the map, and one lock for all of it. It also has functions to index by: a namespace, a label, a
// container image.
package indexer

import (
	"maps"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// An Indexer holds objects by their keys, and finds them by the values that index functions return.
// It is what client-go's cache and threadSafeMap are together. Any goroutine may read and write it.
//
// The objects belong to everybody who reads them: copy an object before you change it.
//
// An index function that returns an error makes a write panic, as in client-go. By then, the object
// is in the map, and not in that index.
type Indexer struct {
	keyFunc cache.KeyFunc

	// lock guards all fields below. A reader holds it until its answer is complete, and no write
	// takes place meanwhile. An index function runs under this lock.
	lock  sync.RWMutex
	items map[string]any
	index storeIndex
	rv    string // the resource version of the last write, list or bookmark
}

var _ cache.Indexer = (*Indexer)(nil)

// New returns an empty Indexer. The key function names an object: cache.MetaNamespaceKeyFunc, or
// cache.DeletionHandlingMetaNamespaceKeyFunc if the Indexer has to delete tombstones, too.
//
// The map of indexers is copied. client-go keeps the map itself, and AddIndexers writes to it: if
// two stores are made with one map, then the second one gets the functions of the first, without an
// index.
func New(keyFunc cache.KeyFunc, indexers cache.Indexers) *Indexer {
	own := make(cache.Indexers, len(indexers))
	maps.Copy(own, indexers)
	return &Indexer{
		keyFunc: keyFunc,
		items:   map[string]any{},
		index:   storeIndex{indexers: own, indices: map[string]index{}},
	}
}

// Add stores an object under its key. It replaces the object that was there.
func (i *Indexer) Add(obj any) error {
	key, err := i.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	_, err = i.Put(key, obj)
	return err
}

// Put is Add for an object whose key is known. It returns the object that had this key before, or
// nil. The error is always nil.
func (i *Indexer) Put(key string, obj any) (old any, err error) {
	rv, rvErr := rvFromObject(obj)
	i.lock.Lock()
	defer i.lock.Unlock()
	old = i.items[key]
	i.items[key] = obj
	i.index.updateIndices(old, obj, key)
	i.setRV(rv, rvErr)
	return old, nil
}

// Update is the same as Add.
func (i *Indexer) Update(obj any) error { return i.Add(obj) }

// Delete removes the object that has the key of obj. If there is none, only the resource version
// changes.
func (i *Indexer) Delete(obj any) error {
	key, err := i.keyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	i.Remove(key, obj)
	return nil
}

// Remove removes the object with this key. It returns the object, or nil if there is none. The
// store takes the resource version of last, which is the last state of the object, or a tombstone.
func (i *Indexer) Remove(key string, last any) (old any) {
	rv, rvErr := rvFromObject(last)
	i.lock.Lock()
	defer i.lock.Unlock()
	old, exists := i.items[key]
	if exists {
		i.index.updateIndices(old, nil, key)
		delete(i.items, key)
	}
	i.setRV(rv, rvErr)
	return old
}

// Replace removes all objects and stores those of the list. If two of them have the same key, the
// later one stays. An object without a key is an error, and changes nothing.
func (i *Indexer) Replace(list []any, resourceVersion string) error {
	keys := make([]string, len(list))
	for n, obj := range list {
		key, err := i.keyFunc(obj)
		if err != nil {
			return cache.KeyError{Obj: obj, Err: err}
		}
		keys[n] = key
	}
	_, _, err := i.ReplaceAll(keys, list, resourceVersion)
	return err
}

// Get returns the object that has the key of obj.
func (i *Indexer) Get(obj any) (item any, exists bool, err error) {
	key, err := i.keyFunc(obj)
	if err != nil {
		return nil, false, cache.KeyError{Obj: obj, Err: err}
	}
	return i.GetByKey(key)
}

// GetByKey returns the object that has this key. It never returns an error.
func (i *Indexer) GetByKey(key string) (item any, exists bool, err error) {
	i.lock.RLock()
	defer i.lock.RUnlock()
	item, exists = i.items[key]
	return item, exists, nil
}

// List returns all objects, in no order.
func (i *Indexer) List() []any {
	i.lock.RLock()
	defer i.lock.RUnlock()
	list := make([]any, 0, len(i.items))
	for _, item := range i.items {
		list = append(list, item)
	}
	return list
}

// ListKeys returns the keys of all objects, in no order.
func (i *Indexer) ListKeys() []string {
	i.lock.RLock()
	defer i.lock.RUnlock()
	keys := make([]string, 0, len(i.items))
	for key := range i.items {
		keys = append(keys, key)
	}
	return keys
}

// Index returns the objects that share at least one value with obj in this index, each once.
func (i *Indexer) Index(indexName string, obj any) ([]any, error) {
	i.lock.RLock()
	defer i.lock.RUnlock()
	keys, err := i.index.getKeysFromIndex(indexName, obj)
	if err != nil {
		return nil, err
	}
	return i.listItems(keys), nil
}

// ByIndex returns the objects that have this value in this index.
func (i *Indexer) ByIndex(indexName, indexedValue string) ([]any, error) {
	i.lock.RLock()
	defer i.lock.RUnlock()
	keys, err := i.index.getKeysByIndex(indexName, indexedValue)
	if err != nil {
		return nil, err
	}
	return i.listItems(keys), nil
}

// IndexKeys returns the keys of the objects that ByIndex returns, sorted.
func (i *Indexer) IndexKeys(indexName, indexedValue string) ([]string, error) {
	i.lock.RLock()
	defer i.lock.RUnlock()
	keys, err := i.index.getKeysByIndex(indexName, indexedValue)
	if err != nil {
		return nil, err
	}
	return sets.List(keys), nil
}

// ListIndexFuncValues returns all values that objects have in this index, in no order.
func (i *Indexer) ListIndexFuncValues(indexName string) []string {
	i.lock.RLock()
	defer i.lock.RUnlock()
	return i.index.getIndexValues(indexName)
}

// GetIndexers returns the index functions by the names of their indexes. The map is a copy:
// client-go returns its own map, and a reader of it does not hold the lock.
func (i *Indexer) GetIndexers() cache.Indexers {
	i.lock.RLock()
	defer i.lock.RUnlock()
	return maps.Clone(i.index.indexers)
}

// AddIndexers adds indexes. It indexes the objects that are stored already.
func (i *Indexer) AddIndexers(newIndexers cache.Indexers) error {
	i.lock.Lock()
	defer i.lock.Unlock()
	if err := i.index.addIndexers(newIndexers); err != nil {
		return err
	}
	for key, item := range i.items {
		for name := range newIndexers {
			i.index.updateSingleIndex(name, nil, item, key)
		}
	}
	return nil
}

// LastStoreSyncResourceVersion returns the resource version of the last write, list or bookmark.
func (i *Indexer) LastStoreSyncResourceVersion() string {
	i.lock.RLock()
	defer i.lock.RUnlock()
	return i.rv
}

// Bookmark sets the resource version: no object has changed, but the server has a later version.
func (i *Indexer) Bookmark(rv string) {
	i.lock.Lock()
	defer i.lock.Unlock()
	i.rv = rv
}

// Resync does nothing: only a queue has something to send again.
func (i *Indexer) Resync() error { return nil }

// listItems returns the objects with these keys. The caller holds the lock.
func (i *Indexer) listItems(keys sets.Set[string]) []any {
	list := make([]any, 0, len(keys))
	for key := range keys {
		list = append(list, i.items[key])
	}
	return list
}

// setRV keeps what rvFromObject has returned for the object that was written. The caller holds the
// lock.
func (i *Indexer) setRV(rv string, err error) {
	if err == nil {
		i.rv = rv
	}
}

// rvFromObject returns the resource version of an object, or an error if it is not a Kubernetes
// object. A write calls it before it changes anything, because it panics for a nil pointer.
func rvFromObject(obj any) (string, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return "", err
	}
	return object.GetResourceVersion(), nil
}
