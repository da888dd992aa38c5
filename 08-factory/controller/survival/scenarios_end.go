package survival

import (
	"errors"
	"fmt"
	"net/http"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Connections end.
var connections = []scenario{
	{"it corrects what has happened while its connections were cut", func(r *runner) {
		r.begin()
		r.proxy.Pull()
		r.remove(r.dropped)
		r.corrupt()
		r.until(func() error {
			if !r.proxy.DialFailed() {
				return errors.New("the controller has not tried to connect again")
			}
			return nil
		})
		r.proxy.Restore()
		r.untilDone(r.object)
	}},
	// The API server has forgotten the version of the watch, and the informer lists again. It learns
	// only then that the children are gone: its handlers get tombstones.
	{"it makes children again whose deletes only a new list shows", func(r *runner) {
		r.begin()
		r.whileRefused(1, http.StatusGone, r.watches(r.dropped), func() {
			r.proxy.Cut()
			for _, child := range r.object.children {
				r.remove(child) // one that is left would bring the object back: a new list is an event for it
			}
			r.proxy.Restore()
		})
		r.untilDone(r.object)
	}},
}

// The controller ends, and starts again.
var restarts = []scenario{
	{"it corrects what has happened to children while it did not run", func(r *runner) {
		r.begin()
		r.stop()
		r.remove(r.dropped)
		r.corrupt()
		for _, child := range r.second.children {
			r.remove(child) // no child's event brings the second object back
		}
		r.start()
		r.untilDone(r.object)
		r.untilDone(r.second)
	}},
	{"it follows what has happened to objects while it did not run", func(r *runner) {
		r.begin()
		r.stop()
		r.apply(r.changed)
		r.remove(r.second.object)
		r.start()
		r.untilDone(r.changed)
		r.untilGone(r.second)
	}},
	{"it writes nothing before its caches have synced", func(r *runner) {
		r.begin()
		r.stop()
		r.remove(r.dropped)
		held := r.hold(1, r.lists(r.dropped))
		r.start()
		r.untilHeld(held)
		r.letAnotherWork()
		for _, sent := range r.now.requests.Find(0, isWrite) {
			r.t.Errorf("it has no list of the children yet, and has sent: %s", sent)
		}
		held.Release()
		r.untilDone(r.object)
	}},
}

// The context of the controller ends while there is work to do.
var ends = []scenario{
	{"it does not return in the middle of a write", func(r *runner) {
		r.beginWith(r.second)
		held := r.hold(1, r.creates(r.kept))
		r.create(r.object.object)
		r.untilHeld(held)
		r.now.cancel()
		r.letAnotherWork() // time enough for a return that is too early; stop sees it
		held.Release()
		r.stop()
	}},
	{"it begins nothing new after the end of its context", func(r *runner) {
		r.beginWith(r.second)
		held := r.hold(1, r.creates(r.kept))
		r.create(r.object.object)
		r.untilHeld(held)
		r.apply(r.changed)
		r.fence() // the change has come
		mark := r.wire.Mark()
		r.now.cancel()
		held.Release()
		r.stop()
		r.mustNotSend(mark, r.writesTo(r.kept))
	}},
	{"it sends nothing after it has returned", func(r *runner) {
		r.begin()
		mark := r.wire.Mark()
		r.apply(r.changed)
		r.untilSent(mark, 1, r.writesFor(r.object))
		r.stop()
		r.start() // the requests of the first start are checked at the end of each scenario
		r.untilDone(r.changed)
		r.fence()
	}},
	{"the Event of its last work is there", func(r *runner) {
		r.needs("Reason", r.Reason)
		r.start()
		held := r.hold(1, r.creates(r.kept))
		r.create(r.object.object)
		r.untilHeld(held)
		late := r.hold(0, isEvent)
		r.now.cancel()
		held.Release()
		r.until(func() error {
			if late.Held() == 0 && !r.now.hasReturned() {
				return errors.New("the controller has not recorded an Event, and has not returned")
			}
			return nil
		})
		late.Release()
		r.stop()
		r.untilEvent(r.object, r.kept, corev1.EventTypeNormal)
	}},
	{"it ends even if its Events get no answer", func(r *runner) {
		r.needs("Reason", r.Reason)
		r.beginWith(r.second)
		held := r.hold(0, isEvent)
		r.fence()
		r.untilHeld(held)
		r.stop() // before the Events get their answers
	}},
}

// An object is deleted.
var deletions = []scenario{
	{"its late write does not undo the finalizer of somebody else", func(r *runner) {
		r.needs("Finalizer", r.Finalizer)
		r.start()
		object := r.withOthersFinalizer(r.object.object)
		held := r.hold(1, r.changes(object))
		r.create(object)
		r.untilHeld(held)
		r.patchMetadata(object, "finalizers", []string{othersFinalizer, othersFinalizer + "-late"})
		next := r.hold(1, r.changes(object)) // it would hide what the first write has done
		r.release(held)
		r.mustHaveFinalizer(object, othersFinalizer+"-late")
		r.release(next)
		r.untilDone(r.object)
	}},
	{"an object that is being deleted loses its finalizer only, and gets no children", func(r *runner) {
		r.beginWith(r.second)
		object := r.create(r.withOthersFinalizer(r.object.object))
		r.untilDone(r.object)
		r.remove(object)
		r.until(func() error {
			if finalizers := r.mustGet(object).GetFinalizers(); slices.Contains(finalizers, r.Finalizer) {
				return fmt.Errorf("%s is being deleted, and has the finalizers %q", describe(object), finalizers)
			}
			return nil
		})
		mark := r.wire.Mark()
		if r.gone(r.kept) != nil {
			r.remove(r.kept)
		}
		r.annotate(object, "still here")
		r.fence()
		r.mustNotSend(mark, r.creates(r.kept), r.creates(r.dropped), r.changes(object))
		r.mustHaveFinalizer(object, othersFinalizer)
	}},
	{"its finalizer stays until the last child is gone", func(r *runner) {
		r.needs("Finalizer", r.Finalizer)
		r.begin()
		r.patchMetadata(r.kept, "finalizers", []string{othersFinalizer}) // it is being deleted for a while
		r.whileRefused(6, http.StatusInternalServerError, r.deletes(r.kept), func() {
			r.remove(r.object.object)
			r.untilSent(0, 6, r.deletes(r.kept))
			r.mustHaveFinalizer(r.object.object, r.Finalizer)
		})
		r.until(func() error {
			if r.mustGet(r.kept).GetDeletionTimestamp() == nil {
				return fmt.Errorf("%s is not being deleted", describe(r.kept))
			}
			return nil
		})
		r.fence()
		r.mustHaveFinalizer(r.object.object, r.Finalizer)
		r.patchMetadata(r.kept, "finalizers", nil)
		r.untilGone(r.object)
	}},
	{"the children stay if the object is deleted with cascade=orphan", func(r *runner) {
		r.begin()
		kept, dropped := r.mustGet(r.kept), r.mustGet(r.dropped)
		r.removeWith(r.object.object, metav1.DeletePropagationOrphan)
		r.until(func() error { return r.gone(r.object.object) })
		r.fence()
		r.mustBeThere(kept)
		r.mustBeThere(dropped)
	}},
	{"its late delete spares a newer object of the same name", func(r *runner) {
		r.begin()
		held := r.hold(1, r.deletes(r.dropped))
		r.apply(r.changed)
		r.untilHeld(held)
		r.remove(r.dropped)
		r.until(func() error { return r.gone(r.dropped) })
		newer := r.create(r.dropped)
		r.release(held)
		r.untilDone(r.changed)
		r.fence()
		r.mustBeThere(newer)
	}},
}
