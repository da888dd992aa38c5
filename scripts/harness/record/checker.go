// The checker of handler calls, stores and indexes: it looks when the server is quiet.

package record

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// A Checker compares an informer and its handlers with the server. It is for a
// moment when nothing changes any more and the informer has had time to deliver
// everything.
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
	if len(all) <= few {
		return errors.Join(all...)
	}
	return errors.Join(append(slices.Clone(all[:few]), fmt.Errorf("… and %d more", len(all)-few))...)
}
