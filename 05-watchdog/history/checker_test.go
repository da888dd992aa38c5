// What the checker finds, and what it lets pass.

package history

import "testing"

func TestLegalFindsWhatCannotBe(t *testing.T) {
	a1, a2, b3 := state{uid: "a", version: "1"}, state{uid: "a", version: "2"}, state{uid: "b", version: "3"}
	happened := []state{a1, a2, {uid: "a", over: true}, b3}
	add := func(s state) call { return call{method: "OnAdd", new: s} }
	update := func(before, after state) call { return call{method: "OnUpdate", old: before, new: after} }
	remove := func(s state) call { return call{method: "OnDelete", new: s} }
	tombstone := func(s state) call { return call{method: "OnDelete", new: s, tombstone: true} }
	for _, test := range []struct {
		name  string
		legal bool
		calls []call
	}{
		{"all of it", true, []call{add(a1), update(a1, a2), remove(a2), add(b3)}},
		{"a part", true, []call{add(a2), update(a2, b3)}},
		{"a list that brings nothing new", true, []call{add(a1), update(a1, a1)}},
		{"a tombstone of something older", true, []call{add(a1), tombstone(a1)}},
		{"made up", false, []call{add(state{uid: "a", version: "7"})}},
		{"out of order", false, []call{add(a2), update(a2, a1)}},
		{"added twice", false, []call{add(a1), add(a2)}},
		{"an update of nothing", false, []call{update(a1, a2)}},
		{"another old object", false, []call{add(a1), update(a2, a2)}},
		{"deleted twice", false, []call{add(a2), remove(a2), remove(a2)}},
		{"deleted, but alive", false, []call{add(b3), remove(b3)}},
		{"another tombstone", false, []call{add(a1), tombstone(a2)}},
		{"back from the dead", false, []call{add(a1), remove(a2), add(a2)}},
	} {
		if err := legal(happened, test.calls); (err == nil) != test.legal {
			t.Errorf("%s: legal() = %v, want legal: %t", test.name, err, test.legal)
		}
	}
}
