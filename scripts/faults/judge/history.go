// What one handler was told, from its first call to its last.

package judge

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// History finds the calls that do not fit those before them. For each object:
// the add comes first, versions only go forward, the old object of an update is
// what the handler saw last, and what was deleted is the one that it saw, and
// stays deleted. Moments may be left out, where an informer lists again or
// folds a backlog: whether too many are is for Missed to say.
func History(calls []Call) []error {
	var found []error
	lives := map[string]*life{}
	for i, call := range calls {
		l := lives[call.Key]
		if l == nil {
			l = &life{dead: map[types.UID]bool{}}
			lives[call.Key] = l
		}
		if err := l.next(call); err != nil {
			found = append(found, fmt.Errorf("call %d, %v: %w", i+1, call, err))
		}
	}
	return found
}

// life is what a handler knows of the objects of one name.
type life struct {
	last   Object // what it saw last; nil when there is nothing
	latest string // the highest version so far
	dead   map[types.UID]bool
}

// next tells whether call can come now, and takes it for true in any case.
func (l *life) next(call Call) error {
	err := errors.Join(l.fits(call), l.forward(call), l.resurrects(call))
	if l.last != nil && l.last.GetUID() != call.New.GetUID() {
		l.dead[l.last.GetUID()] = true // replaced by another of the same name
	}
	l.last, l.latest = call.New, call.New.GetResourceVersion()
	if call.Method == "OnDelete" {
		l.dead[call.New.GetUID()] = true
		l.last = nil
	}
	return err
}

func (l *life) fits(call Call) error {
	switch {
	case call.Method == "OnAdd" && l.last != nil:
		return fmt.Errorf("it was there already, as %s", version(l.last))
	case call.Method != "OnAdd" && l.last == nil:
		return errors.New("there was nothing")
	case call.Method == "OnUpdate" && version(call.Old) != version(l.last):
		return fmt.Errorf("the handler saw %s last", version(l.last))
	case call.Method == "OnDelete" && call.New.GetUID() != l.last.GetUID():
		return fmt.Errorf("the handler knows of another object, %s", version(l.last))
	}
	return nil
}

// forward allows the same version again in an update that brings nothing new,
// as resyncs and lists do, and in a tombstone.
func (l *life) forward(call Call) error {
	if l.latest == "" {
		return nil
	}
	order, err := resourceversion.CompareResourceVersion(call.New.GetResourceVersion(), l.latest)
	switch {
	case err != nil:
		return err
	case order < 0:
		return fmt.Errorf("back from version %s", l.latest)
	case order == 0 && (call.Method == "OnAdd" || call.Method == "OnDelete" && !call.Tombstone):
		return fmt.Errorf("version %s has been told of before", l.latest)
	}
	return nil
}

func (l *life) resurrects(call Call) error {
	if call.Method != "OnDelete" && l.dead[call.New.GetUID()] {
		return errors.New("it is dead")
	}
	return nil
}

// Missed returns which of the changes that were made a handler was never told
// of, though it was there the whole time and no list can have left them out.
func Missed(calls []Call, written []Written) []error {
	seen, gone := map[string]bool{}, map[types.UID]bool{}
	for _, call := range calls {
		if call.Method == "OnDelete" {
			gone[call.New.GetUID()] = true
		} else {
			seen[version(call.New)] = true
		}
	}
	var found []error
	for _, w := range written {
		if w.Deleted && !gone[w.UID] {
			found = append(found, fmt.Errorf("%s was deleted (%s), and no call told of it", w.Key, w.UID))
		}
		if !w.Deleted && !seen[fmt.Sprintf("%s@%s", w.UID, w.Version)] {
			found = append(found, fmt.Errorf("%s was written (%s@%s), and no call told of it", w.Key, w.UID, w.Version))
		}
	}
	return found
}

// Written is a change that the server has confirmed.
type Written struct {
	Key     string
	UID     types.UID
	Version string // unless Deleted
	Deleted bool
}
