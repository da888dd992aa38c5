// Tests of the checks of calls: wrong calls that they find, and right calls that they accept.

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
	const legal, illegal = true, false
	for _, test := range []struct {
		name  string
		legal bool
		calls []Call
	}{
		{"all of it", legal, []Call{add(a1), update(a1, a2), remove(a3), add(b4)}},
		{"a part", legal, []Call{add(a2), update(a2, b4)}},
		{"a list that brings nothing new", legal, []Call{add(a1), update(a1, a1)}},
		{"a tombstone of something older", legal, []Call{add(a1), tombstone(a1)}},
		{"made up", illegal, []Call{add(never)}},
		{"out of order", illegal, []Call{add(a2), update(a2, a1)}},
		{"added twice", illegal, []Call{add(a1), add(a2)}},
		{"an update of nothing", illegal, []Call{update(a1, a2)}},
		{"another old object", illegal, []Call{add(a1), update(a2, a2)}},
		{"other contents", illegal, []Call{add(a1), update(a1, altered)}},
		{"deleted twice", illegal, []Call{add(a2), remove(a3), remove(a3)}},
		{"deleted with other contents", illegal, []Call{add(a2), remove(a3Altered)}},
		{"deleted, but it still exists", illegal, []Call{add(b4), remove(object("a", "b", "5"))}},
		{"another tombstone", illegal, []Call{add(a1), tombstone(a2)}},
		{"added again after its delete", illegal, []Call{add(a1), remove(a3), add(a2)}},
	} {
		found := append(CheckCalls(test.calls), CheckExplained(test.calls, changes)...)
		switch {
		case test.legal && len(found) > 0:
			t.Errorf("%s: the checks found %v, want nothing", test.name, found)
		case !test.legal && len(found) == 0:
			t.Errorf("%s: the checks found nothing in %v, want an error", test.name, test.calls)
		}
	}
}
