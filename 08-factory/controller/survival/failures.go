package survival

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/informer/scripts/harness/fault"
)

// playOutage lets all writes fail for a while, twice. No event of a write can bring the object back
// then: the controller itself has to try again.
func playOutage(r *runner) {
	r.begin()
	var longest time.Duration
	failing := time.Now()
	mark, heal := r.breakWrites()
	r.judge("it tries again for as long as a write fails", func() {
		r.until(func() error {
			if n := len(r.pauses(mark)); n < 8 {
				return fmt.Errorf("it has tried %d times at most to make %s again, and each try has failed",
					n+1, describe(r.dropped))
			}
			return nil
		})
	})
	r.judge("the pause between two tries grows", func() {
		r.until(func() error {
			pauses := r.pauses(mark)
			longest = slices.Max(pauses)
			if len(pauses) > 100 {
				r.t.Fatalf("it has tried %d times, with a longest pause of %v: it hammers", len(pauses)+1, longest)
			}
			if shortest := slices.Min(pauses); longest < time.Second || longest < 4*shortest {
				return fmt.Errorf("the pauses are %v to %v", shortest, longest)
			}
			return nil
		})
	})
	r.judge("it writes when it can again", func() {
		heal()
		r.untilHealed(failing, func() error { return r.done(r.object) })
	})
	failing = time.Now()
	r.judge("the pause begins anew after a success", func() {
		mark, heal := r.breakWrites()
		defer heal()
		r.until(func() error {
			if n := len(r.pauses(mark)); n < 3 {
				return fmt.Errorf("it has tried %d times at most since the next failure; before, it paused for %v",
					n+1, longest)
			}
			return nil
		})
		if shortest := slices.Min(r.pauses(mark)[:3]); shortest > longest/2 {
			r.t.Errorf("the shortest of its first pauses after a success is %v, and the longest before it was %v",
				shortest, longest)
		}
	})
	r.untilHealed(failing, func() error { return r.done(r.object) })
}

// breakWrites lets all writes fail, and deletes a child. It returns the mark for pauses.
func (r *runner) breakWrites() (mark int, heal func() int) {
	r.t.Helper()
	mark = r.wire.Mark()
	heal = r.refuse(0, http.StatusInternalServerError, writes)
	r.remove(r.dropped)
	return mark, heal
}

// pauses returns the times between the tries to make the dropped child again.
func (r *runner) pauses(mark int) (pauses []time.Duration) {
	dropped := r.target(r.dropped)
	tries := r.wire.Find(mark, func(sent *request) bool { return creates(dropped)(sent) || changes(dropped)(sent) })
	for i := 1; i < len(tries); i++ {
		pauses = append(pauses, tries[i].Began.Sub(tries[i-1].Began))
	}
	return pauses
}

// playOneChildFails lets the writes of one child fail: first each with an internal error, and then
// each because the child is invalid.
func playOneChildFails(r *runner) {
	kept := r.target(r.kept)
	isWrite := func(sent *request) bool { return creates(kept)(sent) || changes(kept)(sent) }
	failing := time.Now()
	heal := r.refuse(0, http.StatusInternalServerError, isWrite)
	r.start()
	owner := r.create(r.object.object)
	r.judge("a child that fails does not hold up the others", func() {
		r.until(func() error { return r.isRight(r.dropped, owner) })
		r.untilSent(0, 1, "a create of "+describe(r.kept), isWrite)
	})
	r.judge("an object that fails does not hold up the second", func() {
		r.create(r.second.object)
		r.untilDone(r.second)
	})
	r.judge("the status does not say what is not there", func() {
		r.fence()
		if err := r.statusIsNotDone(r.object); err != nil {
			r.t.Errorf("%s cannot be made, and %v", describe(r.kept), err)
		}
	})
	r.judge("no Event names a child that was not made", func() {
		r.needs("Reason", r.Reason)
		second := r.mustGet(r.second.object)
		r.until(func() error { // the Event of a child that was made later
			return r.eventNames(second, r.second.children[0], corev1.EventTypeNormal, r.Reason)
		})
		if r.eventNames(owner, r.kept, corev1.EventTypeNormal, r.Reason) == nil {
			r.t.Errorf("%s cannot be made, and an Event with the reason %s names it", describe(r.kept), r.Reason)
		}
	})
	r.judge("it makes the child when it can", func() {
		heal()
		r.untilHealed(failing, func() error { return r.done(r.object) })
	})
	judgeTakenMeanwhile(r, owner, isWrite)
	judgeInvalid(r, isWrite)
}

// judgeTakenMeanwhile lets the writes of a child fail, until somebody else has taken its name.
func judgeTakenMeanwhile(r *runner, owner *unstructured.Unstructured, isWrite func(*request) bool) {
	r.judge("a Warning says that the name of a child that failed is taken by now", func() {
		r.needs("Reason", r.Reason)
		mark := r.wire.Mark()
		failing := time.Now()
		heal := r.refuse(0, http.StatusInternalServerError, isWrite)
		r.remove(r.kept)
		r.untilSent(mark, 1, "a create of "+describe(r.kept), isWrite)
		r.until(func() error { return r.statusIsNotDone(r.object) })
		foreign := r.create(r.spoiledCopy(r.kept.GetName()))
		heal() // some controllers learn from the error of a create that a name is taken
		r.until(func() error { return r.eventNames(owner, r.kept, corev1.EventTypeWarning, "") })
		r.remove(foreign)
		r.untilHealed(failing, func() error { return r.done(r.object) })
	})
}

// judgeInvalid lets the API server refuse a child as invalid, until the object changes.
func judgeInvalid(r *runner, isWrite func(*request) bool) {
	mark := r.wire.Mark()
	failing := time.Now()
	heal := r.refuse(0, http.StatusUnprocessableEntity, isWrite)
	r.remove(r.kept)
	r.untilSent(mark, 1, "a create of "+describe(r.kept), isWrite)
	r.judge("it does not try again what is invalid", func() {
		if !r.InvalidIsFinal {
			r.t.Skip("the description of the controller does not have InvalidIsFinal")
		}
		r.untilItGivesUp(mark, isWrite)
	})
	r.judge("it tries again what was invalid after a change", func() {
		heal()
		r.apply(r.changed)
		r.untilHealed(failing, func() error { return r.done(r.changed) })
	})
}

// untilItGivesUp waits until the controller has sent the last request that matches. If it tried
// again after pauses that double, the next pause would be as long as all pauses before.
func (r *runner) untilItGivesUp(mark int, matches func(*request) bool) {
	r.t.Helper()
	r.until(func() error {
		tries := r.wire.Find(mark, matches)
		last := tries[len(tries)-1]
		lasted := last.Began.Sub(tries[0].Began)
		if time.Since(last.Began) < window+lasted*3/2 {
			return fmt.Errorf("it has tried %d times, the last time %v after the first: %s", len(tries), lasted, last)
		}
		return nil
	})
}

// playRefused lets the API server refuse some writes.
func playRefused(r *runner) {
	r.begin()
	refuse := func(n, status int, matches func(*request) bool, provoke func(), done *family) {
		r.t.Helper()
		remove := r.refuse(n, status, matches)
		provoke()
		r.untilDone(done)
		if left := remove(); left > 0 {
			r.t.Errorf("%d of %d writes were still to be refused: all is done without them", left, n)
		}
	}
	// The conflicts are those of the child and of the status, so that no event comes.
	r.judge("it tries again after a conflict", func() {
		isUpdate := func(sent *request) bool {
			return writes(sent) && (sent.Verb == fault.Update || sent.Verb == fault.Patch)
		}
		refuse(2, http.StatusConflict, isUpdate, r.spoil, r.object)
	})
	r.judge("it tries again what is forbidden", func() {
		isCreate := creates(r.target(r.dropped))
		refuse(3, http.StatusForbidden, isCreate, func() { r.remove(r.dropped) }, r.object)
	})
	r.judge("it tries a delete again", func() {
		dropped := r.target(r.dropped)
		isDelete := deletes(dropped)
		refuse(6, http.StatusInternalServerError, isDelete, func() { r.apply(r.changed) }, r.changed)
	})
	r.judge("it tries to write the status again", func() {
		if r.object.status == nil {
			r.t.Skip("the manifests have no status")
		}
		isStatus := func(sent *request) bool { return writes(sent) && sent.Subresource == "status" }
		refuse(6, http.StatusInternalServerError, isStatus, func() { r.apply(r.object) }, r.object)
	})
}
