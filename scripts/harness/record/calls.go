// Checks of the calls of one handler by themselves: does each fit those before it?

package record

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// CheckCalls finds the calls that do not fit those before them. For each object:
// OnAdd comes first, versions only go forward, the old object of an update is
// the new one of the call before, and only an object that the handler knows is
// deleted, and it stays deleted. Versions may be left out, where an informer
// lists again or folds a backlog: CheckComplete finds those that must not be.
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
	err := errors.Join(h.checkMethod(call), h.checkVersion(call), h.checkDeleted(call))
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

func (h *history) checkDeleted(call Call) error {
	if call.Method != "OnDelete" && h.deleted[call.New.GetUID()] {
		return errors.New("it was deleted before")
	}
	return nil
}
