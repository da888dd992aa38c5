// A list that comes object by object.

package reflector

import (
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A temporaryStore collects a streamed list, in the order in which it comes. Changes
// that come in the middle of it are made to the list. Objects are transformed as they
// come, so that none is in memory whole for longer than needed.
type temporaryStore struct {
	transformer     cache.TransformFunc // or nil
	at              map[string]int      // where the object of a key is
	items           []any               // nil where an object was deleted
	resourceVersion string
}

func newTemporaryStore(store cache.ReflectorStore) *temporaryStore {
	s := &temporaryStore{at: map[string]int{}}
	if transforming, ok := store.(cache.TransformingStore); ok {
		s.transformer = transforming.Transformer()
	}
	return s
}

// Add adds an object, or puts it in the place of the one with its key.
func (s *temporaryStore) Add(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if s.transformer != nil {
		if obj, err = s.transformer(obj); err != nil {
			return err
		}
	}
	if at, ok := s.at[key]; ok {
		s.items[at] = obj
		return nil
	}
	s.at[key] = len(s.items)
	s.items = append(s.items, obj)
	return nil
}

// Update is Add.
func (s *temporaryStore) Update(obj any) error { return s.Add(obj) }

// Delete takes an object out.
func (s *temporaryStore) Delete(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if at, ok := s.at[key]; ok {
		s.items[at] = nil
		delete(s.at, key)
	}
	return nil
}

// List returns what is there now. The store is not used after it.
func (s *temporaryStore) List() []any {
	return slices.DeleteFunc(s.items, func(obj any) bool { return obj == nil })
}
