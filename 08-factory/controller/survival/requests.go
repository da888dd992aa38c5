package survival

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/informer/scripts/harness/fault"
)

// A request is a request of the controller.
type request = fault.Request

// A matcher matches requests.
type matcher = func(*request) bool

// on matches requests about one object, which is named by its manifest, but not about its status.
func (r *runner) on(object *unstructured.Unstructured, verbs ...fault.Verb) matcher {
	resource := r.resourceOf(object).Resource
	return func(sent *request) bool {
		return sent.Resource == resource && sent.Name == object.GetName() && sent.Subresource == "" &&
			slices.Contains(verbs, sent.Verb)
	}
}

func (r *runner) creates(object *unstructured.Unstructured) matcher {
	return r.on(object, fault.Create)
}

func (r *runner) deletes(object *unstructured.Unstructured) matcher {
	return r.on(object, fault.Delete)
}

func (r *runner) changes(object *unstructured.Unstructured) matcher {
	return r.on(object, fault.Update, fault.Patch, fault.Delete)
}

func (r *runner) writesTo(object *unstructured.Unstructured) matcher {
	return r.on(object, fault.Create, fault.Update, fault.Patch, fault.Delete)
}

// lists matches the requests for a list of the objects of a manifest's type, plain or as a stream.
func (r *runner) lists(manifest *unstructured.Unstructured) matcher {
	resource := r.resourceOf(manifest).Resource
	return func(sent *request) bool { return sent.Resource == resource && sent.Verb.Lists() }
}

// watches matches the requests for a watch of these objects, from a version on.
func (r *runner) watches(manifest *unstructured.Unstructured) matcher {
	resource := r.resourceOf(manifest).Resource
	return func(sent *request) bool { return sent.Resource == resource && sent.Verb == fault.Watch }
}

// isEvent matches the writes of Events, and isWrite those of all other objects.
func isEvent(sent *request) bool { return sent.Verb.Writes() && sent.Resource == "events" }

func isWrite(sent *request) bool { return sent.Verb.Writes() && sent.Resource != "events" }

func isUpdate(sent *request) bool {
	return isWrite(sent) && (sent.Verb == fault.Update || sent.Verb == fault.Patch)
}

func isStatus(sent *request) bool { return isWrite(sent) && sent.Subresource == "status" }

// writesFor matches all writes of an object, of its status and of its children.
func (r *runner) writesFor(f *family) matcher {
	resource := r.resourceOf(f.object).Resource
	return func(sent *request) bool {
		isObject := sent.Resource == resource && sent.Name == f.object.GetName()
		return isWrite(sent) && (isObject || f.child(sent.Name) != nil)
	}
}

// eventsOn matches the Events on an object, in which its UID stands.
func (r *runner) eventsOn(f *family) matcher {
	uid := []byte(r.mustGet(f.object).GetUID())
	return func(sent *request) bool { return isEvent(sent) && bytes.Contains(sent.Body, uid) }
}

// mustNotSend fails the scenario if the controller has sent a request that matches, after the mark.
func (r *runner) mustNotSend(mark int, matchers ...matcher) {
	r.t.Helper()
	for _, matches := range matchers {
		for _, sent := range r.wire.Find(mark, matches) {
			r.t.Errorf("the controller has sent: %s; want no such request", sent)
		}
	}
}

// untilSent waits until the controller has sent n requests that match, after the mark.
func (r *runner) untilSent(mark, n int, matches matcher) {
	r.t.Helper()
	r.until(func() error {
		if sent := len(r.wire.Find(mark, matches)); sent < n {
			return fmt.Errorf("the controller has sent %d such requests, want %d", sent, n)
		}
		return nil
	})
}

// pauses returns the times between requests that match.
func (r *runner) pauses(mark int, matches matcher) (pauses []time.Duration) {
	tries := r.wire.Find(mark, matches)
	for i := 1; i < len(tries); i++ {
		pauses = append(pauses, tries[i].Began.Sub(tries[i-1].Began))
	}
	return pauses
}

// untilPausesGrow waits until the pauses between the requests that match have grown, and returns the
// longest one.
func (r *runner) untilPausesGrow(mark int, matches matcher) (longest time.Duration) {
	r.t.Helper()
	r.until(func() error {
		pauses := r.pauses(mark, matches)
		if len(pauses) < 8 {
			return fmt.Errorf("it has tried %d times at most, and each try has failed", len(pauses)+1)
		}
		shortest := slices.Min(pauses)
		longest = slices.Max(pauses)
		if len(pauses) > 100 {
			r.t.Fatalf("it has tried %d times, with a longest pause of %v: it hammers", len(pauses)+1, longest)
		}
		if longest < time.Second || longest < 4*shortest {
			return fmt.Errorf("the pauses are %v to %v", shortest, longest)
		}
		return nil
	})
	return longest
}

// untilNextPauseIsLong waits until a controller that tries after pauses that double has paused for a
// second: it has just tried, and the next pause is longer. One that does not try any more, or that
// does not try at all, pauses forever.
func (r *runner) untilNextPauseIsLong(matches matcher) {
	r.t.Helper()
	r.until(func() error {
		tries, pauses := r.wire.Find(0, matches), r.pauses(0, matches)
		if len(tries) == 0 || time.Since(tries[len(tries)-1].Began) > 2*time.Second {
			return nil
		}
		if len(pauses) == 0 || pauses[len(pauses)-1] < time.Second {
			return fmt.Errorf("after %d tries, it still tries after short pauses", len(tries))
		}
		return nil
	})
}

// refuse lets the API server seem to refuse the next n requests that match, or all if n is 0. remove ends
// this, and returns how many requests were still to be refused.
func (r *runner) refuse(n, status int, matches matcher) (mark int, remove func() int) {
	reasons := map[int]metav1.StatusReason{
		http.StatusConflict:            metav1.StatusReasonConflict,
		http.StatusForbidden:           metav1.StatusReasonForbidden,
		http.StatusUnprocessableEntity: metav1.StatusReasonInvalid,
		http.StatusGone:                metav1.StatusReasonExpired,
		http.StatusInternalServerError: metav1.StatusReasonInternalError,
	}
	answer := fault.Refuse(&apierrors.StatusError{ErrStatus: metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
		Status:   metav1.StatusFailure,
		Reason:   reasons[status],
		Code:     int32(status),
		Message:  "the survival test has refused this request",
	}})
	return r.wire.Mark(), r.wire.Add(fault.Rule{Times: n, Matches: matches, Answer: answer})
}

// whileRefused refuses n requests that match, lets the user do something, and waits until the controller
// has tried so often.
func (r *runner) whileRefused(n, status int, matches matcher, user func()) {
	r.t.Helper()
	mark, _ := r.refuse(n, status, matches)
	user()
	r.untilSent(mark, n, matches)
}

// hold holds the next n requests that match on their way to the API server, or all if n is 0, until
// Release.
func (r *runner) hold(n int, matches matcher) *fault.Hold {
	held := r.wire.Hold(n, matches)
	r.t.Cleanup(held.Release)
	return held
}

// untilHeld waits until a request is held.
func (r *runner) untilHeld(held *fault.Hold) {
	r.t.Helper()
	r.until(func() error {
		if held.Held() == 0 {
			return errors.New("the controller has not sent the request to hold")
		}
		return nil
	})
}

// release lets the requests go on, and waits until they have got their answers.
func (r *runner) release(held *fault.Hold) {
	r.t.Helper()
	held.Release()
	r.until(func() error {
		if held.Pending() > 0 {
			return errors.New("a request that was held has no answer yet")
		}
		return nil
	})
}
