// What answers say of objects, and whether that can be true.

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// A sight is what an answer says of one object. What it does not say is zero.
type sight struct {
	name   string
	change int    // it is there, after this change
	phase  string // it is there, in this phase
	app    string // it is there, with this label
	other  string // it is not there, or with another label than this
	gone   bool   // it is not there
}

func (s sight) fits(is state) bool {
	switch {
	case s.gone:
		return is.change == 0
	case s.other != "":
		return is.app != s.other // what is gone has none
	}
	return is.change != 0 && (s.change == 0 || s.change == is.change) &&
		(s.phase == "" || s.phase == is.phase) && (s.app == "" || s.app == is.app)
}

// dated is true if it can be of one state only.
func (s sight) dated() bool { return s.change != 0 || s.phase != "" && s.phase != pending }

func (s sight) String() string {
	switch {
	case s.gone:
		return "gone"
	case s.other != "":
		return "gone, or not " + s.other
	}
	return fmt.Sprintf("there (change %d, phase %q, app %q)", s.change, s.phase, s.app)
}

// A pod is what is read of one, where an answer has all of it.
type pod struct {
	Metadata struct {
		Namespace, Name     string
		Labels, Annotations map[string]string
	}
	Status struct{ Phase string }
}

// sight wants all parts to be of the same change.
func (p pod) sight() (sight, error) {
	meta := p.Metadata
	change, err := strconv.Atoi(meta.Annotations[numbered])
	s := sight{name: meta.Name, change: change, phase: p.Status.Phase, app: meta.Labels["app"]}
	if err != nil || s.app != appOf(s.name, change) || meta.Annotations[worded] != wordsOf(s.name, change) ||
		s.phase != pending && s.phase != phaseOf(change) {
		return s, fmt.Errorf("%s is torn: labels %v, annotations %v, phase %s", s.name, meta.Labels, meta.Annotations, s.phase)
	}
	return s, nil
}

// complete adds what a list says of the objects that are not in it. Those that
// are come in the order of their names, each once.
func complete(r read, listed []sight, objects []*history) ([]sight, error) {
	all := make([]sight, 0, len(objects))
	for _, object := range objects { // in order, too
		switch {
		case len(listed) > 0 && listed[0].name == object.name:
			all, listed = append(all, listed[0]), listed[1:]
		case r.kind == whole:
			all = append(all, sight{name: object.name, gone: true})
		default:
			all = append(all, sight{name: object.name, other: r.app})
		}
	}
	if len(listed) > 0 {
		return nil, fmt.Errorf("%s is unknown, listed twice, or not in its place", listed[0].name)
	}
	return all, nil
}

// A witness remembers what one client has seen of each object: an answer that
// comes after another must not be about an earlier time.
type witness struct {
	objects []*history
	last    map[string]int // by name: the earliest state that the last sight can be of
}

func newWitness(objects []*history) *witness { return &witness{objects, map[string]int{}} }

// hear finds out whether sights can be true. behind says by how much they are
// behind the times at least: for so long something else was known to be true
// when they were asked for.
func (w *witness) hear(asked time.Time, sights []sight) (behind time.Duration, err error) {
	for _, s := range sights {
		i, ok := slices.BinarySearchFunc(w.objects, s.name, func(h *history, name string) int {
			return cmp.Compare(h.name, name)
		})
		if !ok {
			return 0, fmt.Errorf("%s is unknown", s.name)
		}
		at, is, ok := w.objects[i].find(w.last[s.name], s)
		if !ok {
			return 0, fmt.Errorf("%s cannot be %v: it was %v before, and has never been so since", s.name, s, is)
		}
		w.last[s.name] = at
		if s.dated() && !is.over.IsZero() {
			behind = max(behind, asked.Sub(is.over))
		}
	}
	return behind, nil
}
