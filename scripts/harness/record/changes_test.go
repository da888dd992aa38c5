// What the checks of calls find, and what they let pass.

package record

import "testing"

func TestCallsThatCannotBe(t *testing.T) {
	a1, a2, a3, b4 := object("a", "a", "1"), object("a", "a", "2"), object("a", "a", "3"), object("a", "b", "4")
	a3.Data, a3.Labels = a2.Data, a2.Labels // deleted as it was
	never, altered, a3Altered := object("a", "a", "7"), a2.DeepCopy(), a3.DeepCopy()
	altered.Data = map[string]string{"version": "altered"}
	a3Altered.Data = altered.Data
	written := func(o Object) Change {
		return Change{Key: "default/a", UID: o.GetUID(), Version: o.GetResourceVersion(), Object: o}
	}
	changes := []Change{
		written(a1), written(a2), {Key: "default/a", UID: "a", Deleted: true, Object: a2}, written(b4),
	}
	call := func(method string, oldObj, newObj Object) Call {
		return Call{Method: method, Key: "default/a", Old: oldObj, New: newObj}
	}
	add := func(o Object) Call { return call("OnAdd", nil, o) }
	update := func(before, after Object) Call { return call("OnUpdate", before, after) }
	remove := func(o Object) Call { return call("OnDelete", nil, o) }
	tombstone := func(o Object) Call {
		c := call("OnDelete", nil, o)
		c.Tombstone = true
		return c
	}
	for _, test := range []struct {
		name  string
		legal bool
		calls []Call
	}{
		{"all of it", true, []Call{add(a1), update(a1, a2), remove(a3), add(b4)}},
		{"a part", true, []Call{add(a2), update(a2, b4)}},
		{"a list that brings nothing new", true, []Call{add(a1), update(a1, a1)}},
		{"a tombstone of something older", true, []Call{add(a1), tombstone(a1)}},
		{"made up", false, []Call{add(never)}},
		{"out of order", false, []Call{add(a2), update(a2, a1)}},
		{"added twice", false, []Call{add(a1), add(a2)}},
		{"an update of nothing", false, []Call{update(a1, a2)}},
		{"another old object", false, []Call{add(a1), update(a2, a2)}},
		{"other contents", false, []Call{add(a1), update(a1, altered)}},
		{"deleted twice", false, []Call{add(a2), remove(a3), remove(a3)}},
		{"deleted with other contents", false, []Call{add(a2), remove(a3Altered)}},
		{"deleted, but it still exists", false, []Call{add(b4), remove(object("a", "b", "5"))}},
		{"another tombstone", false, []Call{add(a1), tombstone(a2)}},
		{"added again after its delete", false, []Call{add(a1), remove(a3), add(a2)}},
	} {
		found := append(CheckCalls(test.calls), CheckExplained(test.calls, changes)...)
		if (len(found) == 0) != test.legal {
			t.Errorf("%s: found %v, want legal: %t", test.name, found, test.legal)
		}
	}
}
