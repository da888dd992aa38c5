// Checks of the calls of one handler: does each fit those before it, and do all fit
// the changes on the server?

package record

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
)

// CheckCalls finds the calls that do not fit those before them. For each object: OnAdd comes first,
// versions only go forward, the old object of an update is the new one of the call before, and only an
// object that the handler knows is deleted, and it stays deleted. Versions may be left out, where an
// informer lists again or folds a backlog: CheckComplete finds those that must not be.
func CheckCalls(calls []Call) []error {
	var found []error
	histories := map[string]*history{}
	for i, call := range calls {
		h := histories[call.Key]
		if h == nil {
			h = &history{deleted: map[types.UID]bool{}}
			histories[call.Key] = h
		}
		if err := h.next(call); err != nil {
			found = append(found, fmt.Errorf("call %d, %v: %w", i+1, call, err))
		}
	}
	return found
}

// history is what a handler knows about the objects of one name.
type history struct {
	last    Object // of the last call; nil if there is none, or it was a delete
	latest  string // the highest resource version so far
	deleted map[types.UID]bool
}

// next tells whether call can come now, and goes on from it in any case.
func (h *history) next(call Call) error {
	err := errors.Join(h.checkMethod(call), h.checkVersion(call))
	if h.last != nil && h.last.GetUID() != call.New.GetUID() {
		h.deleted[h.last.GetUID()] = true // replaced by another of the same name
	}
	h.last, h.latest = call.New, call.New.GetResourceVersion()
	if call.Method == "OnDelete" {
		h.deleted[call.New.GetUID()] = true
		h.last = nil
	}
	return err
}

func (h *history) checkMethod(call Call) error {
	switch {
	case call.Method == "OnAdd" && h.last != nil:
		return fmt.Errorf("the handler already has it, as %s", version(h.last))
	case call.Method != "OnAdd" && h.last == nil:
		return errors.New("the handler has no such object")
	case call.Method == "OnUpdate" && version(call.Old) != version(h.last):
		return fmt.Errorf("the handler's last call had %s", version(h.last))
	case call.Method == "OnDelete" && call.New.GetUID() != h.last.GetUID():
		return fmt.Errorf("the handler has another object, %s", version(h.last))
	case call.Method != "OnDelete" && h.deleted[call.New.GetUID()]:
		return errors.New("it was deleted before")
	}
	return nil
}

// checkVersion allows the same version again in an update that changes nothing,
// as resyncs and lists bring, and in a tombstone.
func (h *history) checkVersion(call Call) error {
	if h.latest == "" {
		return nil
	}
	order, err := resourceversion.CompareResourceVersion(call.New.GetResourceVersion(), h.latest)
	switch {
	case err != nil:
		return err
	case order < 0:
		return fmt.Errorf("back from version %s", h.latest)
	case order == 0 && (call.Method == "OnAdd" || call.Method == "OnDelete" && !call.Tombstone):
		return fmt.Errorf("version %s came before", h.latest)
	}
	return nil
}

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
	reported := sets.New[string]()
	for _, call := range calls {
		reported.Insert(outcome(call.Method == "OnDelete", call.New.GetUID(), call.New.GetResourceVersion()))
	}
	var found []error
	for _, c := range changes {
		if o := outcome(c.Deleted, c.UID, c.Version); !reported.Has(o) {
			found = append(found, fmt.Errorf("%s was %s, and no call came for it", c.Key, o))
		}
	}
	return found
}

// outcome is what a change has done to an object.
func outcome(deleted bool, uid types.UID, version string) string {
	if deleted {
		return fmt.Sprintf("deleted (%s)", uid)
	}
	return fmt.Sprintf("written (%s@%s)", uid, version)
}

// CheckExplained finds the calls that the changes do not explain: those with an object that never was,
// or not in this order, and tombstones with another object than the call before. The changes must be
// all that there were, and the informer one that folds no backlog.
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
