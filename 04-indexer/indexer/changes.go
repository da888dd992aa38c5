// What a list changes, and a look at all objects: a shared informer notifies its handlers of them.

package indexer

import (
	"iter"
	"maps"
)

// A Change is the effect of a write on the object of a key. Old is nil if the object is new. New is
// nil if the object was removed.
type Change struct {
	Key      string
	Old, New any
}

// ReplaceAll is Replace for objects whose keys are known. It returns the changes of the objects in
// the list, in the order of the list, and the changes of the objects that are not in the list any
// more. If several objects have the same key, the last one is stored, and it is one change. The error
// is always nil.
func (i *Indexer) ReplaceAll(keys []string, objs []any, version string) (listed, gone []Change, err error) {
	items, order := make(map[string]any, len(keys)), make([]string, 0, len(keys))
	for n, key := range keys {
		if _, isDuplicate := items[key]; !isDuplicate {
			order = append(order, key)
		}
		items[key] = objs[n]
	}
	i.lock.Lock()
	defer i.lock.Unlock()
	for _, key := range order {
		listed = append(listed, Change{Key: key, Old: i.items[key], New: items[key]})
	}
	for key, old := range i.items {
		if _, exists := items[key]; !exists {
			gone = append(gone, Change{Key: key, Old: old})
		}
	}
	i.items = items
	i.rv = version
	i.index.reset()
	for key, obj := range items {
		i.index.updateIndices(nil, obj, key)
	}
	return listed, gone, nil
}

// All yields the keys and the objects that are stored at the moment of the call, in no order.
func (i *Indexer) All() iter.Seq2[string, any] {
	i.lock.RLock()
	defer i.lock.RUnlock()
	return maps.All(maps.Clone(i.items))
}
