// The checker of handler calls, stores and indexes: it looks when the server is quiet.

package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// A Checker compares an informer and its handlers with the server. It is for a moment when nothing
// changes any more and the informer has had time to deliver everything.
type Checker struct {
	Server    []Object             // a fresh list
	Store     cache.Indexer        // the informer's
	Recorders map[string]*Recorder // by name, including those that were removed
	Contents  Contents             // informers of the same server may share it

	// Complete is the name of a recorder that was there before the first of
	// Changes, and was never behind. It must have recorded each of them.
	Complete string
	Changes  []Change // none if a list may have left some out
}

// Check returns an error for each thing that is wrong.
func (c Checker) Check() []error {
	var found []error
	report := func(where string, all []error) {
		for _, err := range all {
			found = append(found, fmt.Errorf("%s: %w", where, err))
		}
	}
	report("store", CheckStore(c.Store, c.Server))
	report("store", CheckIndexes(c.Store, c.Server))
	report("server", c.Contents.Check(c.Server...))
	server := Versions(c.Server)
	for _, name := range slices.Sorted(maps.Keys(c.Recorders)) {
		report(name, c.Recorders[name].check(c.Contents))
		report(name, c.Recorders[name].checkVersions(server))
	}
	if len(c.Changes) > 0 {
		calls, _ := c.Recorders[c.Complete].Calls()
		report(c.Complete, CheckComplete(calls, c.Changes))
	}
	return found
}

// check finds what is wrong with the calls by themselves.
func (r *Recorder) check(contents Contents) []error {
	calls, found := r.Calls()
	found = append(found, CheckCalls(calls)...)
	for _, call := range calls {
		found = append(found, contents.Check(call.New)...)
		if call.Old != nil {
			found = append(found, contents.Check(call.Old)...)
		}
	}
	return found
}

// Summary joins errors, the first few of many, or returns nil if there are none.
func Summary(all []error) error {
	const few = 5
	if more := len(all) - few; more > 0 {
		all = append(slices.Clone(all[:few]), fmt.Errorf("… and %d more", more))
	}
	return errors.Join(all...)
}

// CheckStore finds the differences between what a store holds and what the server
// has, object by object and byte by byte.
func CheckStore(store cache.Store, server []Object) []error {
	var found []error
	stale := sets.New(store.ListKeys()...)
	for _, want := range server {
		key := cache.MetaObjectToName(want).String()
		stale.Delete(key)
		item, exists, err := store.GetByKey(key)
		if err != nil || !exists {
			found = append(found, errors.Join(fmt.Errorf("%s is not in the store", key), err))
			continue
		}
		a, errA := json.Marshal(item)
		b, errB := json.Marshal(want)
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			difference := fmt.Errorf("%s in the store: it is\n%s\nthe server has\n%s", key, a, b)
			found = append(found, errors.Join(difference, err))
		}
	}
	for key := range stale {
		found = append(found, fmt.Errorf("%s is in the store, and not on the server", key))
	}
	return found
}

// CheckIndexes compares every index with that of a new indexer.
func CheckIndexes(indexer cache.Indexer, server []Object) []error {
	var found []error
	want := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexer.GetIndexers())
	for _, o := range server {
		found = append(found, want.Add(o))
	}
	for name := range indexer.GetIndexers() {
		values := sets.New(want.ListIndexFuncValues(name)...)
		for value := range values.Union(sets.New(indexer.ListIndexFuncValues(name)...)) {
			err := checkIndexed(indexer, want, name, value)
			if err == nil && !values.Has(value) {
				err = errors.New("no object has this value any more, but it is still listed")
			}
			if err != nil {
				found = append(found, fmt.Errorf("index %s, under %q: %w", name, value, err))
			}
		}
	}
	return slices.DeleteFunc(found, func(err error) bool { return err == nil })
}

// checkIndexed compares what two indexers have under one value.
func checkIndexed(indexer, other cache.Indexer, name, value string) error {
	keys, err := indexer.IndexKeys(name, value)
	wanted, otherErr := other.IndexKeys(name, value)
	got, want := sets.New(keys...), sets.New(wanted...)
	if err := errors.Join(err, otherErr); err != nil || !got.Equal(want) {
		return errors.Join(err, fmt.Errorf("missing: %v, stale: %v",
			sets.List(want.Difference(got)), sets.List(got.Difference(want))))
	}
	if objects, err := indexer.ByIndex(name, value); err != nil || len(objects) != len(keys) {
		return fmt.Errorf("%d objects for %d keys, %v", len(objects), len(keys), err)
	}
	return nil
}

// Contents has an object for each version. Whatever has the same version must
// have the same contents.
type Contents map[string]Object

// Check finds objects that differ from others of the same version.
func (c Contents) Check(objects ...Object) []error {
	var found []error
	for _, o := range objects {
		known, ok := c[version(o)]
		if !ok {
			c[version(o)] = o
		} else if known != o && !equality.Semantic.DeepEqual(known, o) {
			found = append(found, fmt.Errorf("%s: %s came with other contents before",
				cache.MetaObjectToName(o), version(o)))
		}
	}
	return found
}
