package processor

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
)

func TestFold(t *testing.T) {
	tombstone := deleted("a", 2, 2)
	tombstone.New = cache.DeletedFinalStateUnknown{Key: "a", Obj: tombstone.Old}
	initial := added("a", 1)
	initial.Initial = true
	for _, test := range []struct {
		name    string
		changes []Notification
		want    []string
	}{
		{"add, update", []Notification{added("a", 1), updated("a", 1, 2)}, []string{"add a 2"}},
		{"initial add, update", []Notification{initial, updated("a", 1, 2)}, []string{"add a 2, initial"}},
		{"add, delete", []Notification{added("a", 1), deleted("a", 1, 2)}, nil},
		{"add, delete, add", []Notification{added("a", 1), deleted("a", 1, 2), another(added("a", 3))},
			[]string{"add a 3"}},
		{"update, update", []Notification{updated("a", 1, 2), updated("a", 2, 3)}, []string{"update a 1 to 3"}},
		{"update, delete", []Notification{updated("a", 1, 2), deleted("a", 2, 3)}, []string{"delete a 3"}},
		{"update, delete unseen", []Notification{updated("a", 1, 2), tombstone}, []string{"delete a tombstone of 2"}},
		{"delete, add of the same object", []Notification{deleted("a", 1, 2), added("a", 3)},
			[]string{"update a 1 to 3"}},
		{"delete unseen, add of the same object", []Notification{tombstone, added("a", 3)},
			[]string{"update a 2 to 3"}},
		{"update, delete, add of the same object",
			[]Notification{updated("a", 1, 2), deleted("a", 2, 3), added("a", 4)},
			[]string{"update a 1 to 4"}},
		{"delete, add of another object", []Notification{deleted("a", 1, 2), another(added("a", 3))},
			[]string{"delete a 2", "add a 3"}},
		{"delete, add of another object, update",
			[]Notification{deleted("a", 1, 2), another(added("a", 3)), another(updated("a", 3, 4))},
			[]string{"delete a 2", "add a 4"}},
		{"delete, add of another object, delete",
			[]Notification{deleted("a", 1, 2), another(added("a", 3)), another(deleted("a", 3, 4))},
			[]string{"delete a 2"}},
		{"an update that changes nothing", []Notification{updated("a", 1, 1), updated("a", 1, 2)},
			[]string{"update a 1 to 2"}},
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
			expect.That(t, slices.Equal(got, test.want), "%s: got %q, want %q", test.name, got, test.want)
		})
	}
}

// The end of the initial list keeps its place: what came before it is delivered
// before it.
func TestABacklogKeepsTheOrderOfFirstChanges(t *testing.T) {
	var b backlog
	for _, n := range []Notification{
		added("a", 1), added("b", 2), added("c", 3), {Kind: synced}, added("d", 4), updated("b", 2, 5),
		deleted("c", 3, 6), updated("a", 1, 7),
	} {
		b.fold(n)
	}
	expect.That(t, b.size() == 4, "size() = %d, want 4", b.size())
	want := []string{"add a 7", "add b 5", "synced", "add d 4"}
	var got []string
	for changes := b.pop(); changes != nil; changes = b.pop() {
		got = append(got, texts(changes)...)
	}
	expect.That(t, slices.Equal(got, want), "got %q, want %q", got, want)
}

// FuzzFold lets any number of things happen to an object, and listens now and
// then. Each byte is a step: what happens, or that the listener listens.
func FuzzFold(f *testing.F) {
	for _, seed := range []string{"auud", "aLuuL", "aLdaL", "aLdbuL", "aLudauL", "adadL", "aLdbdaL", "aLutaL", "aLurrL",
		"aLtbuL"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, happenings []byte) {
		var b backlog
		now, delivered, at := Notification{}, Notification{}, 0 // Kind 0: there is no such object
		happened := map[any]bool{nil: true}                     // states that were, and how objects ended
		listen := func() {
			for changes := b.pop(); changes != nil; changes = b.pop() {
				for _, n := range changes {
					if !happened[n.Old] || !happened[n.New] {
						t.Fatalf("%q delivers a state that never was", text(n))
					}
					follows(t, delivered, n)
					delivered = n
				}
			}
			if exists(now) != exists(delivered) || exists(now) && now.New != delivered.New {
				t.Fatalf("there is %q, and delivered was %q", text(now), text(delivered))
			}
		}
		for _, h := range happenings {
			at++
			switch {
			case h == 'L':
				listen()
				continue
			case (h == 'a' || h == 'b') && !exists(now): // made, or made as another object
				now = added("x", at)
				if h == 'b' {
					now = another(now)
				}
			case h == 'u' && exists(now):
				now = Notification{Kind: Updated, Key: "x", Old: now.New, New: next(now.New, at)}
			case h == 'r' && exists(now): // a resync
				now = Notification{Kind: Updated, Key: "x", Old: now.New, New: now.New}
			case h == 'd' && exists(now):
				now = Notification{Kind: Deleted, Key: "x", Old: now.New, New: next(now.New, at)}
			case h == 't' && exists(now): // deleted, and nobody saw how
				now = Notification{Kind: Deleted, Key: "x", Old: now.New,
					New: cache.DeletedFinalStateUnknown{Key: "x", Obj: now.New}}
			default:
				continue
			}
			happened[now.New] = true
			b.fold(now)
			if b.size() > 1 {
				t.Fatalf("one object has %d places in the backlog", b.size())
			}
		}
		listen()
	})
}

// next is a later state of the same object.
func next(obj any, version int) *corev1.Pod {
	later := pod("x", version)
	later.UID = obj.(*corev1.Pod).UID
	return later
}

func exists(n Notification) bool { return n.Kind == Added || n.Kind == Updated }

// follows wants that a notification can come after the one delivered before.
func follows(t *testing.T, delivered, n Notification) {
	t.Helper()
	var err error
	switch {
	case (n.Kind == Added) == exists(delivered):
		err = fmt.Errorf("of what was there, or was not")
	case n.Kind == Updated && version(n.Old) != version(delivered.New):
		err = fmt.Errorf("the old state was not delivered before")
	case n.Kind == Deleted && n.New == delivered.New:
		err = fmt.Errorf("it ended otherwise")
	case exists(delivered) && number(n.New) < number(delivered.New):
		err = fmt.Errorf("back in time")
	}
	if err != nil {
		t.Fatalf("%q after %q: %v", text(n), text(delivered), err)
	}
}

func number(obj any) (v int) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = gone.Obj
	}
	fmt.Sscan(version(obj), &v)
	return v
}
