package survival

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/informer/scripts/harness/must"
)

// playRepair lets somebody delete and change children.
func playRepair(r *runner) {
	r.begin()
	r.judge("it makes a deleted child again", func() {
		before := r.mustGet(r.dropped)
		r.remove(r.dropped)
		r.until(func() error {
			if found, err := r.get(r.dropped); err == nil && found.GetUID() == before.GetUID() {
				return fmt.Errorf("%s is still there", describe(r.dropped))
			}
			return r.complete(r.object)
		})
	})
	r.judge("it corrects a changed child", func() {
		r.spoil()
		r.untilDone(r.object)
	})
	r.judge("it removes what somebody has added to a child", func() {
		r.needs("Exact", strings.Join(r.Exact, " "))
		for _, path := range r.Exact {
			patch := map[string]any{}
			key := append(strings.Split(path, "."), "somebody")
			must.NoError(r.t, unstructured.SetNestedField(patch, "somebody", key...))
			r.patch(r.kept, patch)
		}
		r.untilDone(r.object)
	})
	r.judge("a late update does not undo the change of somebody else", func() {
		kept := r.target(r.kept)
		late := r.wire.Hold(1, changes(kept))
		r.spoil()
		r.untilHeld(late, "an update of "+describe(r.kept))
		r.annotate(r.kept, "a change that came first")
		late.Release()
		r.untilAnswered(late)
		r.untilDone(r.object)
		if got := r.mustGet(r.kept).GetAnnotations()[annotation]; got != "a change that came first" {
			r.t.Errorf("the annotation that somebody else has added is %q now: the update has overwritten it", got)
		}
	})
}

// playOwner lets a child change its owner.
func playOwner(r *runner) {
	r.begin()
	r.judge("it leaves a child alone that belongs to somebody else now", func() {
		stranger := controllerOf(r.stranger("stranger"))
		mark := r.wire.Mark()
		r.giveTo(r.kept, stranger)
		r.spoil()
		r.fence()
		r.untouched(mark, r.kept)
	})
	r.judge("the status says that a child is missing", func() {
		r.until(func() error { return r.statusIsNotDone(r.object) })
	})
	r.judge("a child that the second object gets by mistake goes, and the first object makes its own", func() {
		r.giveTo(r.kept, controllerOf(r.mustGet(r.second.object)))
		r.untilDone(r.second)
		r.untilDone(r.object)
	})
}
