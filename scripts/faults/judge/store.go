// What an informer holds, beside what the server has.

package judge

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// Versions returns the keys of objects with their versions.
func Versions(objects []Object) map[string]string {
	versions := make(map[string]string, len(objects))
	for _, o := range objects {
		versions[cache.MetaObjectToName(o).String()] = version(o)
	}
	return versions
}

// Held returns what a store holds, or an error if some of it is no object.
func Held(store cache.Store) ([]Object, error) {
	var objects []Object
	for _, item := range store.List() {
		o, ok := item.(Object)
		if !ok {
			return nil, fmt.Errorf("the store holds a %T", item)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// Store finds the differences between what a store holds and what the server
// has, object by object and byte by byte.
func Store(store cache.Store, server []Object) []error {
	var found []error
	left := sets.New(store.ListKeys()...)
	for _, want := range server {
		key := cache.MetaObjectToName(want).String()
		left.Delete(key)
		item, exists, err := store.GetByKey(key)
		if err != nil || !exists {
			found = append(found, errors.Join(fmt.Errorf("%s is not in the store", key), err))
			continue
		}
		if err := identical(item, want); err != nil {
			found = append(found, fmt.Errorf("%s in the store: %w", key, err))
		}
	}
	for key := range left {
		found = append(found, fmt.Errorf("%s is in the store, and not on the server", key))
	}
	return found
}

func identical(item any, want Object) error {
	got, ok := item.(Object)
	if !ok {
		return fmt.Errorf("it is a %T", item)
	}
	if version(got) != version(want) {
		return fmt.Errorf("it is %s, the server has %s", version(got), version(want))
	}
	a, errA := json.Marshal(got)
	b, errB := json.Marshal(want)
	if err := errors.Join(errA, errB); err != nil {
		return err
	}
	if !bytes.Equal(a, b) {
		return fmt.Errorf("it is\n%s\nthe server has\n%s", a, b)
	}
	return nil
}

// Indexes compares every index with one that is computed from scratch.
func Indexes(indexer cache.Indexer, server []Object) []error {
	var found []error
	for name, of := range indexer.GetIndexers() {
		want := map[string]sets.Set[string]{}
		for _, o := range server {
			values, err := of(o)
			if err != nil {
				return []error{fmt.Errorf("index %s: %w", name, err)}
			}
			for _, value := range values {
				if want[value] == nil {
					want[value] = sets.New[string]()
				}
				want[value].Insert(cache.MetaObjectToName(o).String())
			}
		}
		found = append(found, index(indexer, name, want)...)
	}
	return found
}

func index(indexer cache.Indexer, name string, want map[string]sets.Set[string]) []error {
	var found []error
	blame := func(value, format string, args ...any) {
		found = append(found, fmt.Errorf("index %s, under %q: "+format, append([]any{name, value}, args...)...))
	}
	for value := range sets.New(indexer.ListIndexFuncValues(name)...).Union(sets.KeySet(want)) {
		if want[value] == nil {
			blame(value, "there is nothing any more, but the value is still listed")
		}
		keys, err := indexer.IndexKeys(name, value)
		if err != nil {
			blame(value, "%w", err)
			continue
		}
		got := sets.New(keys...)
		if lacks, left := want[value].Difference(got), got.Difference(want[value]); len(lacks)+len(left) > 0 {
			blame(value, "missing are %v, left behind are %v", sets.List(lacks), sets.List(left))
			continue
		}
		if objects, err := indexer.ByIndex(name, value); err != nil || len(objects) != len(keys) {
			blame(value, "%d objects for %d keys, %v", len(objects), len(keys), err)
		}
	}
	return found
}

// Contents remembers what every version looked like, whoever told of it: there
// is one truth about each.
type Contents map[string]Object

// Check finds objects that differ from what was seen of the same version.
func (c Contents) Check(objects ...Object) []error {
	var found []error
	for _, o := range objects {
		known, ok := c[version(o)]
		if !ok {
			c[version(o)] = o
		} else if known != o && !equality.Semantic.DeepEqual(known, o) {
			found = append(found, fmt.Errorf("%s: %s was seen with other contents, too",
				cache.MetaObjectToName(o), version(o)))
		}
	}
	return found
}
