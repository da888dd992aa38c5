package journal

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

func TestFold(t *testing.T) {
	tombstone := deleted("a", 2, 2)
	tombstone.New = cache.DeletedFinalStateUnknown{Key: "a", Obj: tombstone.Old}
	initial := added("a", 1)
	initial.Initial = true
	resync := updated("a", 1, 1)
	resync.Old = resync.New
	for _, test := range []struct {
		name    string
		changes []notification
		want    []string
	}{
		{
			name:    "add, update",
			changes: []notification{added("a", 1), updated("a", 1, 2)},
			want:    []string{"add a 2"},
		},
		{
			name:    "initial add, update",
			changes: []notification{initial, updated("a", 1, 2)},
			want:    []string{"add a 2, initial"},
		},
		{
			name:    "add, delete",
			changes: []notification{added("a", 1), deleted("a", 1, 2)},
			want:    nil,
		},
		{
			name:    "add, delete, add",
			changes: []notification{added("a", 1), deleted("a", 1, 2), another(added("a", 3))},
			want:    []string{"add a 3"},
		},
		{
			name:    "update, update",
			changes: []notification{updated("a", 1, 2), updated("a", 2, 3)},
			want:    []string{"update a 1 to 3"},
		},
		{
			name:    "update, delete",
			changes: []notification{updated("a", 1, 2), deleted("a", 2, 3)},
			want:    []string{"delete a 3"},
		},
		{
			name:    "update, delete unseen",
			changes: []notification{updated("a", 1, 2), tombstone},
			want:    []string{"delete a tombstone of 2"},
		},
		{
			name:    "delete, add of the same object",
			changes: []notification{deleted("a", 1, 2), added("a", 3)},
			want:    []string{"update a 1 to 3"},
		},
		{
			name:    "delete unseen, add of the same object",
			changes: []notification{tombstone, added("a", 3)},
			want:    []string{"update a 2 to 3"},
		},
		{
			name:    "update, delete, add of the same object",
			changes: []notification{updated("a", 1, 2), deleted("a", 2, 3), added("a", 4)},
			want:    []string{"update a 1 to 4"},
		},
		{
			name:    "delete, add of another object",
			changes: []notification{deleted("a", 1, 2), another(added("a", 3))},
			want:    []string{"delete a 2", "add a 3"},
		},
		{
			name:    "delete, add of another object, update",
			changes: []notification{deleted("a", 1, 2), another(added("a", 3)), another(updated("a", 3, 4))},
			want:    []string{"delete a 2", "add a 4"},
		},
		{
			name:    "delete, add of another object, delete",
			changes: []notification{deleted("a", 1, 2), another(added("a", 3)), another(deleted("a", 3, 4))},
			want:    []string{"delete a 2"},
		},
		{
			name:    "an update that changes nothing",
			changes: []notification{updated("a", 1, 1), updated("a", 1, 2)},
			want:    []string{"update a 1 to 2"},
		},
		{
			name:    "two resyncs",
			changes: []notification{resync, resync},
			want:    []string{"update a 1 to 1"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			var b backlog
			for _, n := range test.changes {
				b.fold(n)
			}
			var got []string
			for changes := b.pop(); changes != nil; changes = b.pop() {
				got = append(got, texts(changes)...)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: got %q, want %q", test.name, got, test.want)
			}
		})
	}
}

// The end of the initial list keeps its place: the changes before it are delivered before it.
func TestABacklogKeepsTheOrderOfFirstChanges(t *testing.T) {
	var b backlog
	for _, n := range []notification{
		added("a", 1), added("b", 2), added("c", 3), {Kind: processor.Synced}, added("d", 4), updated("b", 2, 5),
		deleted("c", 3, 6), updated("a", 1, 7),
	} {
		b.fold(n)
	}
	if size := b.size(); size != 4 {
		t.Errorf("size() = %d, want 4", size)
	}
	want := []string{"add a 7", "add b 5", "synced", "add d 4"}
	var got []string
	for changes := b.pop(); changes != nil; changes = b.pop() {
		got = append(got, texts(changes)...)
	}
	if !slices.Equal(got, want) {
		t.Errorf("pop() gave %q, want %q", got, want)
	}
}

// FuzzFold makes random changes of an object, and reads the backlog now and then. Each byte is a
// step:
//
//	a  the object is added
//	b  the object is added, with another UID
//	u  the object is updated
//	r  a resync
//	d  the object is deleted
//	t  the object is deleted, and the watch misses it: a tombstone
//	L  the listener reads the backlog
func FuzzFold(f *testing.F) {
	for _, seed := range []string{"auud", "aLuuL", "aLdaL", "aLdbuL", "aLudauL", "adadL", "aLdbdaL", "aLutaL", "aLurrL",
		"aLtbuL"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(checkHistory)
}

// TestFoldEveryShortHistory is FuzzFold with all histories of a few steps.
func TestFoldEveryShortHistory(t *testing.T) {
	const steps, longest = "abudtrL", 5
	var history []byte
	t.Cleanup(func() { t.Logf("the last history is %q", history) })
	histories := [][]byte{nil}
	for i := 0; i < len(histories); i++ {
		history = histories[i]
		checkHistory(t, history)
		if len(history) == longest {
			continue
		}
		for _, step := range []byte(steps) {
			histories = append(histories, append(slices.Clone(history), step))
		}
	}
}

// checkHistory makes the changes of a history.
func checkHistory(t *testing.T, steps []byte) {
	history := foldHistory{states: map[any]bool{nil: true}}
	for i, step := range steps {
		if step == 'L' {
			history.listen(t)
		} else {
			history.change(t, step, i+1)
		}
	}
	history.listen(t)
}

// A foldHistory is the history of one object, and the backlog of a listener.
type foldHistory struct {
	backlog   backlog
	current   notification // the latest change; its Kind is 0 before the first one
	delivered notification // the latest change that the listener got
	states    map[any]bool // all states that the object had, and nil
}

// change makes the change of a step. A step that does not fit the state of the object does nothing.
func (h *foldHistory) change(t *testing.T, step byte, version int) {
	t.Helper()
	n, ok := h.notification(step, version)
	if !ok {
		return
	}
	h.current = n
	h.states[n.New] = true
	h.backlog.fold(n)
	if size := h.backlog.size(); size > 1 {
		t.Fatalf("size() = %d after changes of one object, want at most 1", size)
	}
}

func (h *foldHistory) notification(step byte, version int) (n notification, ok bool) {
	if !exists(h.current) {
		switch step {
		case 'a':
			return added("x", version), true
		case 'b':
			return another(added("x", version)), true
		}
		return notification{}, false
	}
	n = notification{Key: "x", Old: h.current.New}
	switch step {
	case 'u':
		n.Kind = processor.Updated
		n.New = next(n.Old, version)
	case 'r':
		n.Kind = processor.Updated
		n.New = n.Old
	case 'd':
		n.Kind = processor.Deleted
		n.New = next(n.Old, version)
	case 't':
		n.Kind = processor.Deleted
		n.New = cache.DeletedFinalStateUnknown{Key: "x", Obj: n.Old}
	default:
		return notification{}, false
	}
	return n, true
}

// listen delivers the backlog, and checks it.
func (h *foldHistory) listen(t *testing.T) {
	t.Helper()
	for changes := h.backlog.pop(); changes != nil; changes = h.backlog.pop() {
		for _, n := range changes {
			if !h.states[n.Old] || !h.states[n.New] {
				t.Fatalf("%q delivers a state that the object never had", text(n))
			}
			wantFollows(t, h.delivered, n)
			h.delivered = n
		}
	}
	if exists(h.current) != exists(h.delivered) {
		t.Fatalf("delivered %q, want the latest change %q", text(h.delivered), text(h.current))
	}
	if exists(h.current) && h.current.New != h.delivered.New {
		t.Fatalf("delivered %q, want the state of %q", text(h.delivered), text(h.current))
	}
}

// next returns a later state of the same object.
func next(obj any, version int) *corev1.Pod {
	later := pod("x", version)
	later.UID = obj.(*corev1.Pod).UID
	return later
}

func exists(n notification) bool { return n.Kind == processor.Added || n.Kind == processor.Updated }

// wantFollows checks that a notification can come after the one that was delivered before.
func wantFollows(t *testing.T, delivered, n notification) {
	t.Helper()
	problem := ""
	switch {
	case n.Kind == processor.Added && exists(delivered):
		problem = "an add of an object that the handler has"
	case n.Kind != processor.Added && !exists(delivered):
		problem = "an update or a delete of an object that the handler does not have"
	case n.Kind == processor.Updated && version(n.Old) != version(delivered.New):
		problem = "the old state was not delivered before"
	case n.Kind == processor.Deleted && n.New == delivered.New:
		problem = "a delete with the state that was delivered before"
	case exists(delivered) && number(n.New) < number(delivered.New):
		problem = "an older state than the one that was delivered before"
	}
	if problem != "" {
		t.Fatalf("%q after %q: %s", text(n), text(delivered), problem)
	}
}

func number(obj any) (v int) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	fmt.Sscan(version(obj), &v)
	return v
}
