// The checker of handler calls, stores and indexes.

package record

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/tools/cache"
)

// A Checker compares an informer and its handlers with the server. The objects on the server must
// not change any more, and the informer must have had time to deliver all notifications.
type Checker struct {
	Server    []Object             // a fresh list
	Store     cache.Indexer        // of the informer
	Recorders map[string]*Recorder // by name, including those that were removed
	Contents  Contents             // informers of the same server may share it

	// Complete is the name of a recorder that must have recorded each of Changes. It was added
	// before the first of them, and was never behind.
	Complete string
	Changes  []Change // empty if a list may have left some out
}

// Check returns an error for each difference, and for each call that cannot be right.
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

// check finds the errors in the calls that can be found without the server.
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

// Summary joins the first few errors. It returns nil if there are none.
func Summary(all []error) error {
	const limit = 5
	if more := len(all) - limit; more > 0 {
		all = append(slices.Clone(all[:limit]), fmt.Errorf("… and %d more", more))
	}
	return errors.Join(all...)
}

// CheckStore finds the differences between the objects in a store and those on the server. It
// compares them as JSON.
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
		gotJSON, gotErr := json.Marshal(item)
		wantJSON, wantErr := json.Marshal(want)
		if err := errors.Join(gotErr, wantErr); err != nil || !bytes.Equal(gotJSON, wantJSON) {
			difference := fmt.Errorf("%s in the store: it is\n%s\nthe server has\n%s", key, gotJSON, wantJSON)
			found = append(found, errors.Join(difference, err))
		}
	}
	for key := range stale {
		found = append(found, fmt.Errorf("%s is in the store, and not on the server", key))
	}
	return found
}

// CheckIndexes compares every index of an indexer with the same index of a new indexer.
func CheckIndexes(indexer cache.Indexer, server []Object) []error {
	var found []error
	want := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexer.GetIndexers())
	for _, o := range server {
		if err := want.Add(o); err != nil {
			found = append(found, err)
		}
	}
	for name := range indexer.GetIndexers() {
		wantValues := sets.New(want.ListIndexFuncValues(name)...)
		for value := range wantValues.Union(sets.New(indexer.ListIndexFuncValues(name)...)) {
			err := checkIndexed(indexer, want, name, value)
			if err == nil && !wantValues.Has(value) {
				err = errors.New("no object has this value any more, but it is still listed")
			}
			if err != nil {
				found = append(found, fmt.Errorf("index %s, under %q: %w", name, value, err))
			}
		}
	}
	return found
}

// checkIndexed compares the objects of one indexed value.
func checkIndexed(indexer, want cache.Indexer, name, value string) error {
	gotKeys, gotErr := indexer.IndexKeys(name, value)
	wantKeys, wantErr := want.IndexKeys(name, value)
	gotSet, wantSet := sets.New(gotKeys...), sets.New(wantKeys...)
	if err := errors.Join(gotErr, wantErr); err != nil || !gotSet.Equal(wantSet) {
		return errors.Join(err, fmt.Errorf("missing: %v, stale: %v",
			sets.List(wantSet.Difference(gotSet)), sets.List(gotSet.Difference(wantSet))))
	}
	if objects, err := indexer.ByIndex(name, value); err != nil || len(objects) != len(gotKeys) {
		return fmt.Errorf("%d objects for %d keys, %v", len(objects), len(gotKeys), err)
	}
	return nil
}
