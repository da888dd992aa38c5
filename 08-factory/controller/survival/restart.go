package survival

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/scripts/harness/fault"
)

// playConnections cuts the connections of the controller.
func playConnections(r *runner) {
	r.begin()
	// The only child of the second object belongs to somebody else.
	taken := r.second.children[0]
	r.giveTo(taken, controllerOf(r.stranger("stranger")))
	for range 3 {
		r.repair(r.object, r.dropped)
	}
	cut := time.Now()
	// The API server has forgotten the version of the watch, and the informer lists again. It learns
	// only then that the children are gone. The other objects have not changed.
	r.judge("it corrects what has happened before a relist", func() {
		childResources := r.childResources()
		expired := map[string]bool{}
		remove := r.refuse(0, http.StatusGone, func(sent *request) bool {
			for _, resource := range childResources {
				if sent.Verb == fault.Watch && sent.Resource == resource.Resource && !expired[sent.Resource] {
					expired[sent.Resource] = true
					return true
				}
			}
			return false
		})
		defer remove()
		r.proxy.Cut()
		for _, child := range r.object.children {
			r.remove(child)
		}
		r.remove(taken)
		r.proxy.Restore()
		r.untilHealed(cut, func() error { return r.done(r.object) })
	})
	r.judge("it uses a name that has become free before a relist", func() {
		r.untilHealed(cut, func() error { return r.done(r.second) })
	})
	r.judge("it corrects what has happened while its connections were cut", func() {
		r.proxy.Pull()
		r.remove(r.dropped)
		r.spoil()
		r.until(func() error {
			if !r.proxy.DialFailed() {
				return errors.New("the controller has not tried to connect again")
			}
			return nil
		})
		r.proxy.Restore()
		r.untilHealed(cut, func() error { return r.done(r.object) })
	})
}

// playRestart stops the controller, and starts it again.
func playRestart(r *runner) {
	r.begin()
	r.judge("it ends when its context ends", r.stop)
	r.judge("it corrects what has happened while it did not run", func() {
		r.remove(r.dropped)
		r.spoil()
		for _, child := range r.second.children {
			r.remove(child) // so no event of a child brings the second object back
		}
		r.start()
		r.untilDone(r.object)
		r.untilDone(r.second)
		r.stop()
	})
	r.judge("it writes nothing before its caches have synced", func() {
		object, err := r.resourceOf(r.object.object)
		if err != nil {
			r.t.Fatal(err)
		}
		var children []string
		for _, resource := range r.childResources() {
			children = append(children, resource.Resource)
		}
		r.judgeSync(children, []string{object.Resource})
		r.judgeSync([]string{object.Resource}, children)
	})
	r.judge("it follows what has changed while it did not run", func() {
		r.apply(r.changed)
		r.remove(r.second.object)
		r.start()
		r.untilDone(r.changed)
		r.until(func() error { return r.gone(r.second.object) })
		r.until(func() error { return r.childrenGone(r.second) })
	})
}

// judgeSync starts the controller while the lists of some resources are late, and those of others
// are not. It stops the controller afterwards.
func (r *runner) judgeSync(late, early []string) {
	r.t.Helper()
	mark := r.wire.Mark()
	held := r.wire.Hold(0, func(sent *request) bool { return isListOf(sent, late) })
	defer held.Release()
	r.start()
	r.untilHeld(held, fmt.Sprintf("a list of %q", late))
	r.until(func() error {
		listed := func(sent *request) bool { return isListOf(sent, early) && isAnswered(sent) }
		if len(r.wire.Find(mark, listed)) == 0 {
			return fmt.Errorf("the controller has not listed %q", early)
		}
		return nil
	})
	var found []request
	if r.look(func() bool { found = r.wire.Find(mark, writes); return len(found) > 0 }) {
		r.t.Fatalf("the list of %q has not come yet, and the controller has sent: %s", late, found[0])
	}
	held.Release()
	r.untilDone(r.object)
	r.stop()
}

// isListOf reports whether a request asks for a list, plain or as a stream.
func isListOf(sent *request, resources []string) bool {
	return sent.Verb.Lists() && slices.Contains(resources, sent.Resource)
}

// waitUntilIdle waits until a start of the controller has sent its last write, or has returned.
func (r *runner) waitUntilIdle(first *running, hasReturned func() bool) {
	for deadline := time.Now().Add(r.Patience); !hasReturned() && time.Now().Before(deadline); time.Sleep(poll) {
		busy := first.requests.Count(func(sent *request) bool {
			return writes(sent) && (!isAnswered(sent) || time.Since(sent.Ended) < window)
		})
		if busy == 0 {
			return
		}
	}
}

// playEnd ends the controller in the middle of a write.
func playEnd(r *runner) {
	r.start()
	r.create(r.second.object)
	r.untilDone(r.second)
	kept := r.target(r.kept)
	held := r.wire.Hold(1, creates(kept))
	defer held.Release()
	owner := r.create(r.object.object)
	r.untilHeld(held, "a create of "+describe(r.kept))
	r.apply(r.changed) // there is more to do, which the controller must not begin
	first := r.now
	hasReturned := func() bool {
		select {
		case <-first.returned:
			return true
		default:
			return false
		}
	}
	inFlight := func(sent *request) bool { return writes(sent) && !isAnswered(sent) }
	var atEnd, atReturn int
	r.judge("it does not return in the middle of a write", func() {
		r.look(hasReturned) // time for the change of the object to come
		first.cancel()
		atEnd = r.wire.Mark()
		if r.look(hasReturned) && first.requests.Count(inFlight) > 0 {
			r.t.Fatal("the controller has returned while one of its writes was on its way")
		}
		events := first.requests.Hold(0, func(sent *request) bool { return sent.Resource == "events" })
		defer events.Release()
		held.Release()
		r.waitUntilIdle(first, hasReturned) // its Events are late
		events.Release()
		r.stop()
		atReturn = first.requests.Mark()
		if n := first.requests.Count(inFlight); n > 0 {
			r.t.Errorf("the controller has returned while %d of its writes were on their way", n)
		}
	})
	r.judge("it begins nothing new after the end of its context", func() {
		r.mustNotSend(atEnd, func(sent *request) bool { return creates(kept)(sent) || changes(kept)(sent) })
	})
	r.judge("the Event of its last work is there", func() {
		r.needs("Reason", r.Reason)
		r.until(func() error { return r.eventNames(owner, r.kept, corev1.EventTypeNormal, r.Reason) })
	})
	r.judge("it sends nothing after it has returned", func() {
		r.start()
		r.untilDone(r.changed)
		r.fence()
		for _, sent := range first.requests.Find(atReturn, writes) {
			r.t.Errorf("after it has returned, the controller has sent: %s; want nothing", sent)
		}
	})
}
