// All that there is to judge an informer by at a quiet point, and the verdict.

package judge

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/client-go/tools/cache"
)

// Evidence is taken when nothing changes on the server any more and the
// informer has had time to hear of everything.
type Evidence struct {
	Server   []Object             // a fresh list
	Store    cache.Indexer        // what the informer holds
	Handlers map[string]*Recorder // by name, including those that were removed
	Contents Contents             // may be shared by informers of the same server

	// Witness is the name of a handler that was there from before the first of
	// Written, and was never behind. It must have been told of each of these,
	// so they are empty where a list may have left something out.
	Witness string
	Written []Written
}

// Verdict finds all that cannot be.
func (e Evidence) Verdict() []error {
	var found []error
	blame := func(who string, all []error) {
		for _, err := range all {
			found = append(found, fmt.Errorf("%s: %w", who, err))
		}
	}
	blame("store", Store(e.Store, e.Server))
	blame("store", Indexes(e.Store, e.Server))
	blame("server", e.Contents.Check(e.Server...))
	truth := Versions(e.Server)
	for _, name := range slices.Sorted(maps.Keys(e.Handlers)) {
		blame(name, e.handler(e.Handlers[name]))
		blame(name, e.Handlers[name].differences(truth))
	}
	if len(e.Written) > 0 {
		calls, _ := e.Handlers[e.Witness].Calls()
		blame(e.Witness, Missed(calls, e.Written))
	}
	return found
}

// handler judges what one handler was told.
func (e Evidence) handler(r *Recorder) []error {
	calls, found := r.Calls()
	found = append(found, History(calls)...)
	for _, call := range calls {
		found = append(found, e.Contents.Check(call.New)...)
		if call.Old != nil {
			found = append(found, e.Contents.Check(call.Old)...)
		}
	}
	return found
}

// differences between what must exist according to the calls and what does. Of
// a handler that was removed nothing can be said.
func (r *Recorder) differences(truth map[string]string) []error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.removed {
		return nil
	}
	var found []error
	for key, v := range truth {
		if r.alive[key] != v {
			found = append(found, fmt.Errorf("%s is %s, the handler was told %q last", key, v, r.alive[key]))
		}
	}
	for key := range r.alive {
		if truth[key] == "" {
			found = append(found, fmt.Errorf("%s is gone, and the handler was not told", key))
		}
	}
	return found
}

// Some returns the first few of many errors as one, or nil.
func Some(all []error) error {
	const few = 5
	if len(all) <= few {
		return errors.Join(all...)
	}
	return errors.Join(append(slices.Clone(all[:few]), fmt.Errorf("… and %d more", len(all)-few))...)
}
