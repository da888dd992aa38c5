// Checks of the calls of one handler against the changes on the server.

package record

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// A Change is one that the server has confirmed.
type Change struct {
	Resource string // such as pods
	Key      string
	UID      types.UID
	Version  string // means nothing if Deleted
	Deleted  bool
	Object   Object // as written, or as it was when it was deleted; nil: not known
}

// CheckComplete finds the changes that are missing in the calls of a handler that
// was there the whole time, where no list can have left them out.
func CheckComplete(calls []Call, changes []Change) []error {
	seen, deleted := map[string]bool{}, map[types.UID]bool{}
	for _, call := range calls {
		if call.Method == "OnDelete" {
			deleted[call.New.GetUID()] = true
		} else {
			seen[version(call.New)] = true
		}
	}
	var found []error
	for _, c := range changes {
		if c.Deleted && !deleted[c.UID] {
			found = append(found, fmt.Errorf("%s was deleted (%s), and no call came for it", c.Key, c.UID))
		}
		if v := versionOf(c.UID, c.Version); !c.Deleted && !seen[v] {
			found = append(found, fmt.Errorf("%s was written (%s), and no call came for it", c.Key, v))
		}
	}
	return found
}

// CheckExplained finds the calls that the changes do not explain: those with an
// object that never was, or not in this order, and tombstones with another
// object than the call before. The changes must be all that there were, and the
// informer one that folds no backlog.
func CheckExplained(calls []Call, changes []Change) []error {
	var found []error
	remaining, last := map[string][]Change{}, map[string]Object{}
	for _, c := range changes {
		remaining[c.Key] = append(remaining[c.Key], c)
	}
	for i, call := range calls {
		if before := last[call.Key]; call.Tombstone && before != nil && version(call.New) != version(before) {
			found = append(found, fmt.Errorf("call %d, %v: the call before had %s", i+1, call, version(before)))
		}
		last[call.Key] = call.New
		n := slices.IndexFunc(remaining[call.Key], call.reports)
		if n < 0 {
			found = append(found, fmt.Errorf("call %d, %v: it did not happen, or comes too late", i+1, call))
			continue
		}
		remaining[call.Key] = remaining[call.Key][n:] // the same change may be reported again
	}
	return found
}

// reports tells whether a call reports a change. A tombstone need not hold the
// last version.
func (c Call) reports(change Change) bool {
	switch {
	case c.New.GetUID() != change.UID || (c.Method == "OnDelete") != change.Deleted:
		return false
	case c.Tombstone:
		return true
	case !change.Deleted && c.New.GetResourceVersion() != change.Version:
		return false
	}
	return change.Object == nil || equality.Semantic.DeepEqual(unversioned(c.New), unversioned(change.Object))
}

// unversioned is an object without what a delete changes, or decoding adds.
func unversioned(o Object) Object {
	o = o.DeepCopyObject().(Object)
	o.SetResourceVersion("")
	o.GetObjectKind().SetGroupVersionKind(schema.GroupVersionKind{})
	return o
}
