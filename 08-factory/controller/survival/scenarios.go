package survival

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"

	"example.com/informer/scripts/harness/must"
)

// A scenario says what the controller must do. It stands alone: it has a namespace of its own, and
// starts the controller there.
type scenario struct {
	name string
	run  func(*runner)
}

// In the scenarios, kept is a child of the object that the changed object wants otherwise, and
// dropped one that the changed object does not want. The second object is there for fences: when the
// controller has done some work for it, it has had the time for what came before.
var scenarios = slices.Concat(lifecycle, repairs, namesakes, failures, connections, restarts, ends, deletions)

// An object comes, changes and goes.
var lifecycle = []scenario{
	{"it makes the children of an object, and its status says so", func(r *runner) {
		r.start()
		r.create(r.object.object)
		r.untilDone(r.object)
		r.create(r.second.object)
		r.untilDone(r.second)
	}},
	{"an Event names each child that it makes", func(r *runner) {
		r.needs("Reason", r.Reason)
		r.begin()
		for _, child := range r.object.children {
			r.untilEvent(r.object, child, corev1.EventTypeNormal)
		}
	}},
	{"it follows a change of the object", func(r *runner) {
		r.begin()
		r.apply(r.changed)
		r.untilDone(r.changed)
		r.untilDone(r.second)
	}},
	{"it removes the children of an object that wants none any more", func(r *runner) {
		if r.none == nil {
			r.t.Skip("the manifests have no none.yaml")
		}
		r.begin()
		r.apply(r.none)
		r.untilDone(r.none)
	}},
	{"a deleted object and its children go, and can come again", func(r *runner) {
		r.begin()
		r.remove(r.object.object)
		r.untilGone(r.object)
		r.untilDone(r.second)
		r.create(r.object.object)
		r.untilDone(r.object)
	}},
	{"it writes nothing when there is nothing to do", func(r *runner) {
		r.begin()
		for _, child := range r.object.children {
			r.untilEvent(r.object, child, corev1.EventTypeNormal) // it may come late
		}
		r.fence()
		mark := r.wire.Mark()
		for i := range 10 {
			r.annotate(r.object.object, fmt.Sprint(i))
			r.annotate(r.kept, fmt.Sprint(i))
		}
		r.fence()
		r.mustNotSend(mark, r.writesFor(r.object), r.eventsOn(r.object))
	}},
}

// Somebody else deletes or changes children.
var repairs = []scenario{
	{"it makes a deleted child again", func(r *runner) {
		r.begin()
		r.repair(r.object, r.dropped)
	}},
	{"it corrects a changed child", func(r *runner) {
		r.begin()
		r.corrupt()
		r.untilDone(r.object)
	}},
	{"it removes what somebody has added to a child", func(r *runner) {
		r.needs("Exact", strings.Join(r.Exact, " "))
		r.begin()
		for _, path := range r.Exact {
			r.addKey(r.kept, path)
		}
		r.untilDone(r.object)
	}},
	{"its late update does not undo the change of somebody else", func(r *runner) {
		r.begin()
		held := r.hold(1, r.changes(r.kept))
		r.corrupt()
		r.untilHeld(held)
		r.annotate(r.kept, "came first")
		r.release(held)
		r.untilDone(r.object)
		if got := r.mustGet(r.kept).GetAnnotations()[annotation]; got != "came first" {
			r.t.Errorf("the annotation that somebody else has added is %q now: the update has overwritten it", got)
		}
	}},
	{"it leaves a child alone that belongs to somebody else now", func(r *runner) {
		r.begin()
		mark := r.wire.Mark()
		r.giveTo(r.kept, r.stranger("stranger"))
		r.corrupt()
		r.fence()
		r.mustNotSend(mark, r.changes(r.kept))
		r.until(func() error { return r.statusIsNotDone(r.object) })
	}},
}

// Other objects have the name of a child, or look like one.
var namesakes = []scenario{
	{"it warns of what has the name of a child, and leaves it alone", func(r *runner) {
		foreign := r.create(r.lookalike(r.kept.GetName()))
		r.beginWith(r.second)
		owner := r.create(r.object.object)
		r.until(func() error { return r.isRight(r.dropped, owner) })
		r.untilEvent(r.object, r.kept, corev1.EventTypeWarning)
		r.fence()
		r.mustNotSend(0, r.changes(r.kept))
		r.mustBeThere(foreign)
	}},
	{"it uses a name that is free again, and does not wait for its next try", func(r *runner) {
		foreign := r.create(r.lookalike(r.kept.GetName()))
		r.beginWith(r.second)
		owner := r.create(r.object.object)
		r.until(func() error { return r.isRight(r.dropped, owner) })
		r.fence()
		r.untilNextPauseIsLong(r.creates(r.kept))
		mark := r.wire.Mark()
		r.remove(foreign)
		r.fence()
		if len(r.wire.Find(mark, r.creates(r.kept))) == 0 {
			r.t.Errorf("the name of %s is free, and the controller has only done other work since", describe(r.kept))
		}
		r.untilDone(r.object)
	}},
	{"it leaves alone what only looks like a child", func(r *runner) {
		r.begin()
		owned := r.lookalike("owned")
		owner := controllerOf(r.mustGet(r.object.object))
		owner.Controller = nil
		owned.SetOwnerReferences([]metav1.OwnerReference{owner})
		controlled := r.lookalike("controlled")
		controlled.SetOwnerReferences([]metav1.OwnerReference{controllerOf(r.stranger(r.object.object.GetName()))})
		bystanders := []*unstructured.Unstructured{owned, controlled,
			r.lookalike(r.kept.GetName() + "-x"), r.lookalike(r.object.object.GetName() + "-spare")}
		for _, bystander := range bystanders {
			r.create(bystander)
		}
		r.corrupt()
		r.untilDone(r.object)
		r.apply(r.changed)
		r.untilDone(r.changed)
		r.mustNotSend(0, r.deletes(r.second.children[0]))
		r.remove(r.object.object)
		r.untilGone(r.object)
		r.fence()
		for _, bystander := range bystanders {
			r.mustNotSend(0, r.changes(bystander))
		}
	}},
	{"it leaves alone the child of an older object of the same name", func(r *runner) {
		r.beginWith(r.second)
		older := r.object.object.DeepCopy()
		older.SetUID(uuid.NewUUID())
		orphan := r.lookalike(r.kept.GetName())
		orphan.SetOwnerReferences([]metav1.OwnerReference{controllerOf(older)})
		orphan.SetFinalizers([]string{othersFinalizer}) // the garbage collector would remove it
		orphan = r.create(orphan)
		owner := r.create(r.object.object)
		r.until(func() error { return r.isRight(r.dropped, owner) })
		r.fence()
		r.mustNotSend(0, r.changes(orphan))
		r.mustBeThere(orphan)
		r.patchMetadata(orphan, "finalizers", nil)
		r.untilDone(r.object)
	}},
}

// The API server refuses writes, or is slow. Often no event brings the object back: the controller itself
// has to try again.
var failures = []scenario{
	{"it tries again after a conflict", func(r *runner) {
		r.begin()
		r.whileRefused(2, http.StatusConflict, isUpdate, r.corrupt)
		r.untilDone(r.object)
	}},
	{"it tries again what was forbidden", func(r *runner) {
		r.begin()
		r.whileRefused(3, http.StatusForbidden, r.creates(r.dropped), func() { r.remove(r.dropped) })
		r.untilDone(r.object)
	}},
	{"it tries a delete again", func(r *runner) {
		r.begin()
		r.whileRefused(6, http.StatusInternalServerError, r.deletes(r.dropped), func() { r.apply(r.changed) })
		r.untilDone(r.changed)
	}},
	{"it tries to write the status again", func(r *runner) {
		if r.object.status == nil {
			r.t.Skip("the manifests have no status")
		}
		r.begin()
		r.whileRefused(6, http.StatusInternalServerError, isStatus, func() { r.apply(r.changed) })
		r.untilDone(r.changed)
	}},
	{"it tries again for as long as writes fail, after pauses that grow", func(r *runner) {
		r.begin()
		mark, remove := r.refuse(0, http.StatusInternalServerError, isWrite)
		r.remove(r.dropped)
		longest := r.untilPausesGrow(mark, r.writesTo(r.dropped))
		remove()
		r.untilDone(r.object)
		mark, remove = r.refuse(0, http.StatusInternalServerError, isWrite)
		r.remove(r.dropped)
		r.untilSent(mark, 4, r.writesTo(r.dropped))
		remove()
		if shortest := slices.Min(r.pauses(mark, r.writesTo(r.dropped))[:3]); shortest > longest/2 {
			r.t.Errorf("the shortest of its first pauses is %v, and the longest before the success was %v",
				shortest, longest)
		}
	}},
	{"a child that cannot be made does not delay the others", func(r *runner) {
		_, remove := r.refuse(0, http.StatusInternalServerError, r.writesTo(r.kept))
		r.start()
		owner := r.create(r.object.object)
		r.until(func() error { return r.isRight(r.dropped, owner) })
		r.untilSent(0, 1, r.writesTo(r.kept))
		r.create(r.second.object)
		r.untilDone(r.second)
		remove()
		r.untilDone(r.object)
	}},
	{"it does not claim a child that cannot be made", func(r *runner) {
		r.refuse(0, http.StatusInternalServerError, r.writesTo(r.kept))
		r.beginWith(r.second)
		r.create(r.object.object)
		r.untilSent(0, 1, r.writesTo(r.kept))
		r.fence()
		must.NoError(r.t, r.statusIsNotDone(r.object))
		r.untilEvent(r.object, r.dropped, corev1.EventTypeNormal)
		if r.Reason != "" && r.eventNames(r.object, r.kept, corev1.EventTypeNormal) == nil {
			r.t.Errorf("%s cannot be made, and an Event says that it was", describe(r.kept))
		}
	}},
	{"no two workers work on the same object", func(r *runner) {
		r.begin()
		mark := r.wire.Mark()
		held := r.hold(1, r.changes(r.kept))
		r.corrupt()
		r.untilHeld(held)
		r.annotate(r.object.object, "more to do")
		r.fence()
		first := r.wire.Find(mark, r.changes(r.kept))[0]
		for _, sent := range r.wire.Find(mark, r.writesFor(r.object)) {
			// A deadline of the controller may have ended the first one: then it may try again.
			inTime := first.Ended.IsZero() || sent.Began.Before(first.Ended)
			if sent.Began.After(first.Began) && inTime {
				r.t.Errorf("while the controller waits for the answer to %s, it has sent: %s", first, sent)
			}
		}
		r.release(held)
		r.untilDone(r.object)
	}},
}
