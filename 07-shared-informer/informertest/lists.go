// The lists: the first one, and those after a watch that has expired.

package informertest

import "testing"

func onlyTheFirstListIsInitial(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	r.server.relist(r.server.nextWatch(), configMap("b", "2"), configMap("a", "3"))
	handler.wantSorted(t, "OnAdd a 1 first", "OnAdd b 2", "OnUpdate a 3, was 1")
}

func orderOfTheList(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"), configMap("c", "1"))
	handler := r.recorder(t)
	r.run(t)
	handler.wantSorted(t, "OnAdd a 1 first", "OnAdd c 1 first")
	r.server.relist(r.server.nextWatch(),
		configMap("c", "2"), configMap("d", "3"), configMap("b", "4"), configMap("a", "5"))
	handler.want(t, "OnUpdate c 2, was 1", "OnAdd d 3", "OnAdd b 4", "OnUpdate a 5, was 1")
}

func tombstone(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("b", "1"))
	handler := r.recorder(t)
	r.run(t)
	w := r.server.nextWatch()
	w.Modify(configMap("b", "2"))
	r.server.relist(w)
	handler.want(t, "OnAdd b 1 first", "OnUpdate b 2, was 1", "OnDelete tombstone ns/b of 2")
}

// What an object held, a port perhaps, is free before another one has it.
func deletesFirst(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("b", "1"), configMap("c", "1"))
	handler := r.recorder(t)
	r.run(t)
	handler.wantSorted(t, "OnAdd b 1 first", "OnAdd c 1 first")
	r.server.relist(r.server.nextWatch(), configMap("a", "7"), configMap("c", "8"))
	handler.want(t, "OnDelete tombstone ns/b of 1", "OnAdd a 7", "OnUpdate c 8, was 1")
}

// The UID is not part of an object's name.
func madeAgainUnseen(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	handler := r.recorder(t)
	r.run(t)
	another := configMap("a", "2")
	another.UID = "another"
	r.server.relist(r.server.nextWatch(), another)
	handler.want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1")
}

// Without resyncs, no handler is exempt.
func unchangedObjects(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"))
	first, second := r.recorder(t), r.recorder(t)
	r.run(t)
	r.server.relist(r.server.nextWatch(), configMap("a", "1"))
	for _, handler := range []*recorder{first, second} {
		handler.want(t, "OnAdd a 1 first", "OnUpdate a 1, was 1")
	}
}

func sameNameTwice(t *testing.T, newInformer New) {
	r := newRig(newInformer, options{}, configMap("a", "1"), configMap("a", "2"))
	handler := r.recorder(t)
	r.run(t)
	handler.want(t, "OnAdd a 2 first")
}

// Not only the name is the same.
func samePointerTwice(t *testing.T, newInformer New) {
	same := configMap("a", "1")
	r := newRig(newInformer, options{}, same, same)
	handler := r.recorder(t)
	r.run(t)
	handler.want(t, "OnAdd a 1 first")
}
