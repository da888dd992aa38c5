// What happened to an object on the server, what an informer told of it, and
// whether the one can be the truth about the other.

package main

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"
)

// A state is an object at one moment of its life on the server.
type state struct {
	uid     types.UID
	version string
	value   string
	over    bool // the object was deleted; its version then is not known to us
}

func stateOf(configMap *corev1.ConfigMap) state {
	return state{uid: configMap.UID, version: configMap.ResourceVersion, value: configMap.Data["value"]}
}

// histories are what happened to the objects of each name, in order. Each name
// is written by one goroutine.
type histories struct {
	mu     sync.Mutex
	byName map[string][]state
}

func (h *histories) add(name string, s state) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.byName == nil {
		h.byName = map[string][]state{}
	}
	h.byName[name] = append(h.byName[name], s)
}

// A told is one call of a handler.
type told struct {
	method    string
	old, new  state // new is the one that went, for OnDelete
	tombstone bool
	first     bool
}

// tales is a handler that writes down its calls, by the name of the object.
type tales struct {
	mu     sync.Mutex
	byName map[string][]told
}

func (t *tales) add(name string, call told) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.byName == nil {
		t.byName = map[string][]told{}
	}
	t.byName[name] = append(t.byName[name], call)
}

// OnAdd implements cache.ResourceEventHandler.
func (t *tales) OnAdd(obj any, isInInitialList bool) {
	configMap := obj.(*corev1.ConfigMap)
	t.add(configMap.Name, told{method: "OnAdd", new: stateOf(configMap), first: isInInitialList})
}

// OnUpdate implements cache.ResourceEventHandler.
func (t *tales) OnUpdate(oldObj, newObj any) {
	configMap := newObj.(*corev1.ConfigMap)
	t.add(configMap.Name, told{method: "OnUpdate", old: stateOf(oldObj.(*corev1.ConfigMap)), new: stateOf(configMap)})
}

// OnDelete implements cache.ResourceEventHandler.
func (t *tales) OnDelete(obj any) {
	gone, tombstone := obj.(cache.DeletedFinalStateUnknown)
	if tombstone {
		obj = gone.Obj
	}
	configMap := obj.(*corev1.ConfigMap)
	t.add(configMap.Name, told{method: "OnDelete", new: stateOf(configMap), tombstone: tombstone})
}

// count returns how many calls there were, and how many brought a tombstone.
func (t *tales) count() (calls, tombstones int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, all := range t.byName {
		calls += len(all)
		for _, call := range all {
			if call.tombstone {
				tombstones++
			}
		}
	}
	return calls, tombstones
}

// alive returns what must exist if the calls are all that there is to know,
// with its version.
func (t *tales) alive() map[string]string {
	t.mu.Lock()
	defer t.mu.Unlock()
	versions := map[string]string{}
	for name, calls := range t.byName {
		if last := calls[len(calls)-1]; last.method != "OnDelete" {
			versions[name] = last.new.version
		}
	}
	return versions
}

// legal tells whether the calls are a sub-history of what happened: some
// moments may be left out, but none is made up, none comes out of order, and
// each call fits the one before it.
func legal(happened []state, calls []told) error {
	at := 0        // where in happened the informer is
	var last state // what it told of last; zero when there is nothing
	for i, call := range calls {
		if err := fits(last, call); err != nil {
			return fmt.Errorf("call %d, %s: %w", i+1, call.method, err)
		}
		was := func(s state) bool { return s == call.new }
		if last = call.new; call.method == "OnDelete" {
			last = state{}
			was = func(s state) bool {
				// As what it ended is known, unless there is only a tombstone.
				return s.over && s.uid == call.new.uid && (call.tombstone || s.value == call.new.value)
			}
		}
		next := slices.IndexFunc(happened[at:], was)
		if next < 0 {
			return fmt.Errorf("call %d, %s: %+v did not happen, or is told too late", i+1, call.method, call.new)
		}
		at += next
	}
	return nil
}

// fits tells whether a call can come after what was told last.
func fits(last state, call told) error {
	nothing := last == state{}
	switch {
	case call.method == "OnAdd" && !nothing:
		return fmt.Errorf("it was there already: %+v", last)
	case call.method != "OnAdd" && nothing:
		return errors.New("there was nothing")
	case call.method == "OnUpdate" && call.old != last:
		return fmt.Errorf("the old object is %+v, but told of was %+v", call.old, last)
	case call.tombstone && call.new != last:
		return fmt.Errorf("the tombstone holds %+v, but told of was %+v", call.new, last)
	}
	return nil
}

func TestLegalFindsWhatCannotBe(t *testing.T) {
	a1, a2, b3 := state{uid: "a", version: "1"}, state{uid: "a", version: "2"}, state{uid: "b", version: "3"}
	happened := []state{a1, a2, {uid: "a", over: true}, b3}
	add := func(s state) told { return told{method: "OnAdd", new: s} }
	update := func(old, new state) told { return told{method: "OnUpdate", old: old, new: new} }
	remove := func(s state) told { return told{method: "OnDelete", new: s} }
	tombstone := func(s state) told { return told{method: "OnDelete", new: s, tombstone: true} }
	for _, test := range []struct {
		name  string
		legal bool
		calls []told
	}{
		{"all of it", true, []told{add(a1), update(a1, a2), remove(a2), add(b3)}},
		{"a part", true, []told{add(a2), update(a2, b3)}},
		{"a list that brings nothing new", true, []told{add(a1), update(a1, a1)}},
		{"a tombstone of something older", true, []told{add(a1), tombstone(a1)}},
		{"made up", false, []told{add(state{uid: "a", version: "7"})}},
		{"out of order", false, []told{add(a2), update(a2, a1)}},
		{"added twice", false, []told{add(a1), add(a2)}},
		{"an update of nothing", false, []told{update(a1, a2)}},
		{"another old object", false, []told{add(a1), update(a2, a2)}},
		{"deleted twice", false, []told{add(a2), remove(a2), remove(a2)}},
		{"deleted, but alive", false, []told{add(b3), remove(b3)}},
		{"another tombstone", false, []told{add(a1), tombstone(a2)}},
		{"back from the dead", false, []told{add(a1), remove(a2), add(a2)}},
	} {
		if err := legal(happened, test.calls); (err == nil) != test.legal {
			t.Errorf("%s: legal() = %v, want legal: %t", test.name, err, test.legal)
		}
	}
}
