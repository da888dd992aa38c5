package survival

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/uuid"
)

// playNameTaken begins with an object of somebody else that has the name of a child.
func playNameTaken(r *runner) {
	foreign := r.create(r.spoiledCopy(r.kept.GetName()))
	r.start()
	r.create(r.second.object)
	r.untilDone(r.second)
	mark := r.wire.Mark()
	owner := r.create(r.object.object)
	r.judge("it makes the other children", func() { r.until(func() error { return r.isRight(r.dropped, owner) }) })
	r.judge("it leaves alone what has the name of a child", func() {
		r.fence()
		r.untouched(mark, r.kept)
		r.stillThere(foreign)
	})
	r.judge("a Warning says that the name is taken", func() {
		r.needs("Reason", r.Reason)
		r.until(func() error { return r.eventNames(owner, r.kept, corev1.EventTypeWarning, "") })
	})
	r.judge("it uses a name that is free again", func() {
		last := r.untilItPauses(mark)
		r.remove(foreign)
		r.repairSecond()
		r.repairSecond()
		worked := r.wire.Mark()
		r.untilDone(r.object)
		kept := r.target(r.kept)
		for _, try := range r.wire.Find(worked, creates(kept)) {
			if pause := try.Began.Sub(last); pause > soon {
				r.t.Errorf("it has used the name %v after its last try, and after other work: too late", pause)
			}
		}
	})
}

const (
	soon      = 3 * time.Second // a pause that a user accepts
	longPause = 5 * time.Second // of a controller that tries no more, or hardly ever
)

// untilItPauses waits until the controller waits longer and longer for a name, or does not try any
// more. It returns the time of the last try. If the pauses double, the next one is longer than soon.
func (r *runner) untilItPauses(mark int) (last time.Time) {
	r.t.Helper()
	last = time.Now()
	kept := r.target(r.kept)
	r.until(func() error {
		tries := r.wire.Find(mark, creates(kept))
		n := len(tries)
		if n > 0 {
			last = tries[n-1].Began
		}
		switch {
		case n == 0 || time.Since(last) > longPause:
			return nil
		case n > 1 && tries[n-1].Began.Sub(tries[n-2].Began) > longPause/2:
			return nil
		default:
			return fmt.Errorf("it still tries after short pauses: %d tries", n)
		}
	})
	return last
}

// playBystanders has objects in the namespace that look like children, and are none.
func playBystanders(r *runner) {
	r.begin()
	similar, spare := r.spoiledCopy(r.kept.GetName()+"-x"), r.spoiledCopy(r.object.object.GetName()+"-spare")
	owned := r.spoiledCopy("owned")
	owned.SetOwnerReferences([]metav1.OwnerReference{
		ownerOf(r.mustGet(r.object.object)),
		ownerOf(r.stranger("stranger")),
	})
	controlled := r.spoiledCopy("controlled")
	controlled.SetOwnerReferences([]metav1.OwnerReference{controllerOf(r.stranger(r.object.object.GetName()))})
	mark := r.wire.Mark()
	for _, bystander := range []*unstructured.Unstructured{similar, spare, owned, controlled} {
		r.create(bystander)
	}
	r.spoil()
	r.untilDone(r.object)
	r.apply(r.changed)
	r.untilDone(r.changed)
	r.judge("it deletes no child of the second object", func() {
		child := r.target(r.second.children[0])
		r.mustNotSend(mark, deletes(child))
	})
	r.remove(r.object.object)
	r.until(func() error { return r.gone(r.object.object) })
	r.until(func() error { return r.childrenGone(r.object) })
	r.fence()
	r.judge("it leaves alone a free object with a similar name", func() {
		r.untouched(mark, similar)
		r.untouched(mark, spare)
	})
	r.judge("it leaves alone what the object owns, but does not control", func() { r.untouched(mark, owned) })
	r.judge("it leaves alone the child of another controller", func() { r.untouched(mark, controlled) })
	r.judge("it leaves alone the child of an older object of the same name", func() { r.judgeOlder() })
}

// judgeOlder creates a child of an object that is gone, with the name of a child. A finalizer keeps
// it: the garbage collector would delete it soon.
func (r *runner) judgeOlder() {
	older := r.object.object.DeepCopy()
	older.SetUID(uuid.NewUUID())
	orphan := r.spoiledCopy(r.kept.GetName())
	orphan.SetOwnerReferences([]metav1.OwnerReference{controllerOf(older)})
	orphan.SetFinalizers([]string{othersFinalizer})
	orphan = r.create(orphan)
	mark := r.wire.Mark()
	owner := r.create(r.object.object)
	r.until(func() error { return r.isRight(r.dropped, owner) })
	r.fence()
	r.untouched(mark, orphan)
	r.stillThere(orphan)
	r.patchMetadata(orphan, "finalizers", nil)
	r.untilDone(r.object)
}
