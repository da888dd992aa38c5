// The temporary store, which collects a streamed list.

package reflector

import (
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A temporaryStore collects the objects of a streamed list, in the order of their arrival. A change
// that arrives before the end of the list changes the list. Each object is transformed when it
// arrives, so that the original needs memory only for a moment.
type temporaryStore struct {
	transformer     cache.TransformFunc // may be nil
	positions       map[string]int      // the index in items, by key
	items           []any               // nil where an object was deleted
	resourceVersion string
}

func newTemporaryStore(store cache.ReflectorStore) *temporaryStore {
	s := &temporaryStore{positions: map[string]int{}}
	if transforming, ok := store.(cache.TransformingStore); ok {
		s.transformer = transforming.Transformer()
	}
	return s
}

// Add adds an object. It replaces the object that has the same key.
func (s *temporaryStore) Add(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if s.transformer != nil {
		obj, err = s.transformer(obj)
		if err != nil {
			return err
		}
	}
	if position, ok := s.positions[key]; ok {
		s.items[position] = obj
		return nil
	}
	s.positions[key] = len(s.items)
	s.items = append(s.items, obj)
	return nil
}

// Update is Add.
func (s *temporaryStore) Update(obj any) error { return s.Add(obj) }

// Delete removes the object that has the key of obj.
func (s *temporaryStore) Delete(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if position, ok := s.positions[key]; ok {
		s.items[position] = nil
		delete(s.positions, key)
	}
	return nil
}

// takeList returns the objects, in the order of their arrival. It reuses the memory of items: the
// store must not be used afterwards.
func (s *temporaryStore) takeList() []any {
	return slices.DeleteFunc(s.items, func(obj any) bool { return obj == nil })
}
