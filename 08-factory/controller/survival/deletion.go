package survival

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/fault"
)

// playFinalizers has finalizers of others on the object.
func playFinalizers(r *runner) {
	r.start()
	r.create(r.second.object)
	r.untilDone(r.second)
	const late = othersFinalizer + "-late"
	withOthers := r.object.object.DeepCopy()
	withOthers.SetFinalizers([]string{othersFinalizer})
	r.judge("a late write of its finalizer does not undo the finalizer of somebody else", func() {
		if r.Finalizer == "" {
			r.create(withOthers)
			r.patchMetadata(withOthers, "finalizers", []string{othersFinalizer, late})
			r.t.Skip("the description of the controller has no Finalizer")
		}
		object := r.target(withOthers)
		isWrite := changes(object)
		held := r.wire.Hold(1, isWrite)
		defer held.Release()
		r.create(withOthers)
		r.untilHeld(held, "an update of "+describe(withOthers)+", with its finalizer")
		r.patchMetadata(withOthers, "finalizers", []string{othersFinalizer, late})
		next := r.wire.Hold(1, isWrite) // would hide what the first write has done
		defer next.Release()
		held.Release()
		r.untilAnswered(held)
		if got := r.mustGet(withOthers).GetFinalizers(); !slices.Contains(got, late) {
			r.t.Fatalf("the finalizers are %q, want %q among them", got, late)
		}
		next.Release()
		r.untilDone(r.object)
	})
	var mark, letGo int
	r.judge("its own finalizer goes, and those of others stay", func() {
		r.untilDone(r.object)
		mark = r.wire.Mark()
		r.remove(r.object.object)
		r.until(func() error {
			found, err := r.get(r.object.object)
			if err == nil && r.Finalizer != "" && slices.Contains(found.GetFinalizers(), r.Finalizer) {
				return fmt.Errorf("%s has the finalizers %q", describe(found), found.GetFinalizers())
			}
			return nil
		})
		r.fence()
		letGo = r.wire.Mark()
		found, err := r.get(r.object.object)
		if err != nil {
			r.t.Fatalf("the finalizers of others were on the object, and now: %v", err)
		}
		for _, want := range []string{othersFinalizer, late} {
			if !slices.Contains(found.GetFinalizers(), want) {
				r.t.Errorf("the finalizers are %q, want %q among them", found.GetFinalizers(), want)
			}
		}
	})
	r.judge("it makes no child for an object that is being deleted", func() {
		if r.gone(r.kept) != nil {
			r.remove(r.kept)
		}
		r.annotate(r.object.object, "still here")
		r.fence()
		r.mustNotSend(mark, func(sent *request) bool {
			return sent.Verb == fault.Create && r.object.child(sent.Name) != nil
		})
	})
	// The API server would refuse it.
	r.judge("it writes no finalizer to an object that is being deleted", func() {
		r.untouched(letGo, r.object.object)
	})
}

// playLastChild deletes an object while one of its children cannot go.
func playLastChild(r *runner) {
	r.needs("Finalizer", r.Finalizer)
	r.begin()
	hasFinalizer := func() {
		r.t.Helper()
		r.fence()
		found, err := r.get(r.object.object)
		if err != nil {
			r.t.Fatalf("%s is still there, and the object is not: %v", describe(r.kept), err)
		}
		if !slices.Contains(found.GetFinalizers(), r.Finalizer) {
			r.t.Errorf("%s is still there, and the finalizers of the object are %q, want %q among them",
				describe(r.kept), found.GetFinalizers(), r.Finalizer)
		}
	}
	kept := r.target(r.kept)
	isDelete := deletes(kept)
	failing := time.Now()
	heal := r.refuse(0, http.StatusInternalServerError, isDelete)
	r.patchMetadata(r.kept, "finalizers", []string{othersFinalizer})
	r.remove(r.object.object)
	untilTried := func(n int) { r.untilSent(0, n, "a delete of "+describe(r.kept), isDelete) }
	r.judge("its finalizer stays while the delete of a child fails", func() {
		untilTried(1)
		hasFinalizer()
	})
	r.judge("it tries again to delete a child", func() { untilTried(6) })
	r.judge("its finalizer stays while a child is still there", func() {
		heal()
		r.untilHealed(failing, func() error {
			if r.mustGet(r.kept).GetDeletionTimestamp() == nil {
				return fmt.Errorf("%s is not being deleted", describe(r.kept))
			}
			return nil
		})
		hasFinalizer()
	})
	r.judge("the object goes after its last child", func() {
		r.patchMetadata(r.kept, "finalizers", nil)
		r.until(func() error { return r.gone(r.object.object) })
		r.until(func() error { return r.childrenGone(r.object) })
	})
}

// playOrphan deletes an object as kubectl delete --cascade=orphan does.
func playOrphan(r *runner) {
	r.begin()
	r.judge("the children stay if the object is deleted with cascade=orphan", func() {
		kept, dropped := r.mustGet(r.kept), r.mustGet(r.dropped)
		mark := r.wire.Mark()
		r.removeWith(r.object.object, metav1.DeletePropagationOrphan)
		r.until(func() error { return r.gone(r.object.object) })
		r.fence()
		r.mustNotSend(mark, func(sent *request) bool {
			isOfChild := changes(r.target(kept))(sent) || changes(r.target(dropped))(sent)
			return isOfChild && sent.Status != http.StatusConflict // an old cache may cause a write that is refused
		})
		r.stillThere(kept)
		r.stillThere(dropped)
	})
}

// playLateDelete holds a delete of the controller, until a newer object has the child's name.
func playLateDelete(r *runner) {
	r.begin()
	r.judge("a late delete spares a newer object of the same name", func() {
		dropped := r.target(r.dropped)
		held := r.wire.Hold(1, deletes(dropped))
		defer held.Release()
		r.apply(r.changed)
		r.untilHeld(held, "a delete of "+describe(r.dropped))
		free := r.replaceByFree(r.dropped)
		held.Release()
		r.untilAnswered(held)
		r.untilDone(r.changed)
		r.fence()
		r.stillThere(free)
	})
	r.judge("a late delete spares a newer object, after the end of its owner", func() {
		r.needs("Finalizer", r.Finalizer)
		kept := r.target(r.kept)
		held := r.wire.Hold(1, deletes(kept))
		defer held.Release()
		r.remove(r.object.object)
		r.untilHeld(held, "a delete of "+describe(r.kept))
		free := r.replaceByFree(r.kept)
		held.Release()
		r.untilAnswered(held)
		r.until(func() error { return r.gone(r.object.object) })
		r.fence()
		r.stillThere(free)
	})
}
