package survival

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
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
		remove := r.wire.refuse(-1, http.StatusGone, func(sent *request) bool {
			for _, resource := range childResources {
				if sent.resumes && sent.resource == resource.Resource && !expired[sent.resource] {
					expired[sent.resource] = true
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
	mark := r.wire.mark()
	held := r.wire.holdN(-1, func(sent *request) bool { return isListOf(sent, late) })
	defer held.release()
	r.start()
	r.untilReached(held, fmt.Sprintf("a list of %q", late))
	r.until(func() error {
		listed := func(sent *request) bool { return isListOf(sent, early) && sent.isAnswered() }
		if len(r.wire.find(mark, listed)) == 0 {
			return fmt.Errorf("the controller has not listed %q", early)
		}
		return nil
	})
	var writes []request
	if r.look(func() bool { writes = r.wire.find(mark, (*request).writes); return len(writes) > 0 }) {
		r.t.Fatalf("the list of %q has not come yet, and the controller has sent: %s", late, &writes[0])
	}
	held.release()
	r.untilDone(r.object)
	r.stop()
}

// isListOf reports whether a request asks for a list, plain or as a stream.
func isListOf(sent *request, resources []string) bool {
	for _, resource := range resources {
		asksForAll := sent.verb == "list" || sent.verb == "watch" && !sent.resumes
		if sent.target == (target{resource: resource}) && asksForAll {
			return true
		}
	}
	return false
}

// untilItRests waits until the first start of the controller has sent its last write, or has
// returned.
func (r *runner) untilItRests(hasReturned func() bool) {
	for deadline := time.Now().Add(r.Patience); !hasReturned() && time.Now().Before(deadline); time.Sleep(poll) {
		writes := r.wire.find(0, func(sent *request) bool { return sent.run == 1 && sent.writes() })
		busy := slices.ContainsFunc(writes, func(sent request) bool {
			return !sent.isAnswered() || time.Since(sent.ended) < window
		})
		if !busy {
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
	held := r.wire.hold(func(sent *request) bool { return sent.creates(kept) })
	defer held.release()
	owner := r.create(r.object.object)
	r.untilReached(held, "a create of "+describe(r.kept))
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
	inFlight := func(sent *request) bool { return sent.run == 1 && sent.writes() && !sent.isAnswered() }
	var atEnd, atReturn int
	r.judge("it does not return in the middle of a write", func() {
		r.look(hasReturned) // time for the change of the object to come
		first.cancel()
		atEnd = r.wire.mark()
		if r.look(hasReturned) && len(r.wire.find(0, inFlight)) > 0 {
			r.t.Fatal("the controller has returned while one of its writes was on its way")
		}
		events := r.wire.holdN(-1, func(sent *request) bool { return sent.run == 1 && sent.resource == "events" })
		defer events.release()
		held.release()
		r.untilItRests(hasReturned) // its Events are late
		events.release()
		r.stop()
		atReturn = r.wire.mark()
		if n := len(r.wire.find(0, inFlight)); n > 0 {
			r.t.Errorf("the controller has returned while %d of its writes were on their way", n)
		}
	})
	r.judge("it begins nothing new after the end of its context", func() {
		r.mustNotSend(atEnd, func(sent *request) bool { return sent.creates(kept) || sent.changes(kept) })
	})
	r.judge("the Event of its last work is there", func() {
		r.needs("Reason", r.Reason)
		r.until(func() error { return r.eventNames(owner, r.kept, corev1.EventTypeNormal, r.Reason) })
	})
	r.judge("it sends nothing after it has returned", func() {
		r.start()
		r.untilDone(r.changed)
		r.fence()
		r.mustNotSend(atReturn, func(sent *request) bool { return sent.run == 1 && sent.writes() })
	})
}
