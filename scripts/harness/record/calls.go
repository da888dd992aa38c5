// Checks of the calls of one handler: against the calls before them, and against the changes on the
// server.

package record

import (
	"errors"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/apimachinery/pkg/util/sets"
)

// CheckCalls finds the calls that do not fit the calls before them. For each object, OnAdd comes
// first. Versions only increase. The old object of an update is the new object of the call before.
// Only an object that the handler knows is deleted, and it stays deleted. Versions may be left out
// when an informer lists again or folds a backlog; CheckComplete finds those that must not be left
// out.
func CheckCalls(calls []Call) []error {
	var found []error
	histories := map[string]*history{}
	for i, call := range calls {
		h := histories[call.Key]
		if h == nil {
			h = &history{deleted: map[types.UID]bool{}}
			histories[call.Key] = h
		}
		if err := h.add(call); err != nil {
			found = append(found, fmt.Errorf("call %d, %v: %w", i+1, call, err))
		}
	}
	return found
}

// A history is what a handler knows about the objects of one name.
type history struct {
	last    Object             // the object of the last call; nil if there is none, or if the call was a delete
	latest  string             // the highest resource version so far
	deleted map[types.UID]bool // objects that were deleted, or replaced
}

// add adds a call to the history. It returns an error if the call does not fit the calls before it.
func (h *history) add(call Call) error {
	err := errors.Join(h.checkMethod(call), h.checkVersion(call))
	if h.last != nil && h.last.GetUID() != call.New.GetUID() {
		h.deleted[h.last.GetUID()] = true // another object of the same name has replaced it
	}
	h.last, h.latest = call.New, call.New.GetResourceVersion()
	if call.Method == "OnDelete" {
		h.deleted[call.New.GetUID()] = true
		h.last = nil
	}
	return err
}

// checkMethod checks that the handler's method can be called for the object now.
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

// checkVersion checks that the version does not decrease. It allows the same version again in an
// update that changes nothing, because resyncs and lists cause such updates, and in a tombstone.
func (h *history) checkVersion(call Call) error {
	if h.latest == "" {
		return nil
	}
	order, err := resourceversion.CompareResourceVersion(call.New.GetResourceVersion(), h.latest)
	mayRepeat := call.Method == "OnUpdate" || call.Tombstone
	switch {
	case err != nil:
		return err
	case order < 0:
		return fmt.Errorf("back from version %s", h.latest)
	case order == 0 && !mayRepeat:
		return fmt.Errorf("version %s came before", h.latest)
	}
	return nil
}

// CheckComplete finds the changes that no call reports. It is for a handler that was added before
// the first change, and for an informer that did not list again.
func CheckComplete(calls []Call, changes []Change) []error {
	reported := sets.New[string]()
	for _, call := range calls {
		reported.Insert(describeChange(call.Method == "OnDelete", call.New.GetUID(), call.New.GetResourceVersion()))
	}
	var found []error
	for _, c := range changes {
		if change := describeChange(c.Deleted, c.UID, c.Version); !reported.Has(change) {
			found = append(found, fmt.Errorf("%s was %s, and no call came for it", c.Key, change))
		}
	}
	return found
}

// CheckExplained finds the calls that the changes do not explain: calls with an object that never
// existed, calls in another order, and tombstones with another object than the call before. changes
// must have all changes, and the informer must not fold a backlog.
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
