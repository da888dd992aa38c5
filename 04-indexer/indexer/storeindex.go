// The indexes of an Indexer: for each index, the keys of the objects by value.

package indexer

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// An index maps a value to the keys of the objects that have this value. A value that no object has
// is not in the map. Otherwise values that come and go, such as names of pods, would fill the
// memory.
type index map[string]sets.Set[string]

// A storeIndex has the index functions of an Indexer, and the indexes that they fill. It has no
// lock of its own: the caller of each method holds the lock of the Indexer.
type storeIndex struct {
	indexers cache.Indexers   // the index functions by name
	indices  map[string]index // the indexes by the same names; none before the first object
}

func (i *storeIndex) reset() { i.indices = map[string]index{} }

// addIndexers adds index functions. If one of their names is taken, it adds none of them.
func (i *storeIndex) addIndexers(newIndexers cache.Indexers) error {
	if taken := sets.KeySet(i.indexers).Intersection(sets.KeySet(newIndexers)); taken.Len() > 0 {
		return fmt.Errorf("indexer conflict: %v", taken)
	}
	maps.Copy(i.indexers, newIndexers)
	return nil
}

// updateIndices updates all indexes after the object of this key has changed. oldObj is nil for an
// object that is new, and newObj is nil for an object that is deleted.
func (i *storeIndex) updateIndices(oldObj, newObj any, key string) {
	for name := range i.indexers {
		i.updateSingleIndex(name, oldObj, newObj, key)
	}
}

// updateSingleIndex removes the key from the values of the old object, and adds it to the values of
// the new object. No index remembers the values of an object: the index function computes both.
func (i *storeIndex) updateSingleIndex(name string, oldObj, newObj any, key string) {
	oldIndexValues := i.indexValues(name, oldObj, key)
	indexValues := i.indexValues(name, newObj, key)
	idx := i.indices[name]
	if idx == nil {
		idx = index{}
		i.indices[name] = idx
	}
	if len(indexValues) == 1 && len(oldIndexValues) == 1 && indexValues[0] == oldIndexValues[0] {
		return // most updates end here
	}
	for _, value := range oldIndexValues {
		deleteKeyFromIndex(key, value, idx)
	}
	for _, value := range indexValues {
		addKeyToIndex(key, value, idx)
	}
}

// indexValues returns the values of an object, or none if there is no object. It panics if the
// index function returns an error: a write could return it, but the object is in the map already.
func (i *storeIndex) indexValues(name string, obj any, key string) []string {
	if obj == nil {
		return nil
	}
	values, err := i.indexers[name](obj)
	if err != nil {
		panic(fmt.Errorf("unable to calculate an index entry for key %q on index %q: %w", key, name, err))
	}
	return values
}

func addKeyToIndex(key, value string, idx index) {
	keys := idx[value]
	if keys == nil {
		keys = sets.Set[string]{}
		idx[value] = keys
	}
	keys.Insert(key)
}

func deleteKeyFromIndex(key, value string, idx index) {
	keys := idx[value]
	keys.Delete(key)
	if len(keys) == 0 {
		delete(idx, value)
	}
}

// getKeysFromIndex returns the keys of the objects that share a value with obj. The caller must not
// change the set: it may be the one in the index.
func (i *storeIndex) getKeysFromIndex(indexName string, obj any) (sets.Set[string], error) {
	indexFunc := i.indexers[indexName]
	if indexFunc == nil {
		return nil, errNoIndex(indexName)
	}
	indexedValues, err := indexFunc(obj)
	if err != nil {
		return nil, err
	}
	idx := i.indices[indexName]
	if len(indexedValues) == 1 {
		return idx[indexedValues[0]], nil // there is nothing to merge
	}
	keys := sets.Set[string]{}
	for _, value := range indexedValues {
		for key := range idx[value] {
			keys.Insert(key)
		}
	}
	return keys, nil
}

// getKeysByIndex returns the keys of the objects that have this value. The caller must not change
// the set: it is the one in the index.
func (i *storeIndex) getKeysByIndex(indexName, indexedValue string) (sets.Set[string], error) {
	if i.indexers[indexName] == nil {
		return nil, errNoIndex(indexName)
	}
	return i.indices[indexName][indexedValue], nil
}

// getIndexValues returns all values of an index. An index that does not exist has none.
func (i *storeIndex) getIndexValues(indexName string) []string {
	idx := i.indices[indexName]
	values := make([]string, 0, len(idx))
	for value := range idx {
		values = append(values, value)
	}
	return values
}

func errNoIndex(indexName string) error {
	return fmt.Errorf("Index with name %s does not exist", indexName) // client-go's words
}
