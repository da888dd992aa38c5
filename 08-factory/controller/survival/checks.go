package survival

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
)

// untilDone waits until all is done for an object: its children and its status.
func (r *runner) untilDone(f *family) {
	r.t.Helper()
	r.until(func() error { return r.done(f) })
}

// done returns an error unless all is done for an object.
func (r *runner) done(f *family) error { return errors.Join(r.complete(f), r.statusIsTrue(f)) }

// untilComplete waits until an object has its children.
func (r *runner) untilComplete(f *family) {
	r.t.Helper()
	r.until(func() error { return r.complete(f) })
}

// complete returns an error unless the object has the children that it wants, and no others.
func (r *runner) complete(f *family) error {
	owner, err := r.get(f.object)
	if err != nil {
		return err
	}
	for _, child := range f.children {
		if err := r.isRight(child, owner); err != nil {
			return err
		}
	}
	return r.noOthers(f, owner)
}

// isRight returns an error unless there is a child with the content of its manifest, and with this
// owner as its controller.
func (r *runner) isRight(child, owner *unstructured.Unstructured) error {
	found, err := r.get(child)
	if err != nil {
		return err
	}
	if !metav1.IsControlledBy(found, owner) {
		return fmt.Errorf("the controller of %s is not %s with the UID %s: its owner references are %v",
			describe(child), describe(owner), owner.GetUID(), found.GetOwnerReferences())
	}
	if err := lacks(found.Object, child.Object, describe(child)+": "); err != nil {
		return err
	}
	for _, path := range r.Exact {
		if err := surplus(found.Object, child.Object, path); err != nil {
			return fmt.Errorf("%s: %w", describe(child), err)
		}
	}
	return nil
}

// noOthers returns an error if the object has a child that it does not want.
func (r *runner) noOthers(f *family, owner *unstructured.Unstructured) error {
	for _, resource := range r.childResources() {
		list, err := r.dynamic.Resource(resource).Namespace(r.Namespace).List(r.ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, found := range list.Items {
			if metav1.IsControlledBy(&found, owner) && f.child(found.GetName()) == nil {
				return fmt.Errorf("%s is still a child of %s", describe(&found), describe(owner))
			}
		}
	}
	return nil
}

// childrenGone returns an error if a child of the family is still there.
func (r *runner) childrenGone(f *family) error {
	for _, child := range f.children {
		if err := r.gone(child); err != nil {
			return err
		}
	}
	return nil
}

// statusIsTrue returns an error unless the object's status is what it must be when all is done.
func (r *runner) statusIsTrue(f *family) error {
	if f.status == nil {
		return nil
	}
	found, err := r.get(f.object)
	if err != nil {
		return err
	}
	observed, _, _ := unstructured.NestedInt64(found.Object, "status", "observedGeneration")
	if observed != found.GetGeneration() {
		return fmt.Errorf("status.observedGeneration is %d, want the generation %d", observed, found.GetGeneration())
	}
	return lacks(found.Object["status"], f.status, "status")
}

// statusIsNotDone returns an error if a field of the object's status says that all is done.
func (r *runner) statusIsNotDone(f *family) error {
	found, err := r.get(f.object)
	if err != nil {
		return err
	}
	status, _, _ := unstructured.NestedMap(found.Object, "status")
	for _, field := range slices.Sorted(maps.Keys(f.status)) {
		if lacks(status[field], f.status[field], field) == nil {
			return fmt.Errorf("status.%s is %s, as if all were done", field, inJSON(status[field]))
		}
	}
	return nil
}

// eventNames returns an error unless there is an Event on the object with this type and reason that
// names the child. An empty reason stands for any reason.
func (r *runner) eventNames(owner, child *unstructured.Unstructured, eventType, reason string) error {
	events, err := r.Client.EventsV1().Events(r.Namespace).List(r.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var found []string
	for _, event := range events.Items {
		if event.Regarding.UID != owner.GetUID() {
			continue
		}
		if isAbout(event, child.GetName()) && event.Type == eventType && (reason == "" || event.Reason == reason) {
			return nil
		}
		found = append(found, fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Note))
	}
	return fmt.Errorf("no Event on %s of type %s, with the reason %q, names %s; its Events are %q",
		describe(owner), eventType, reason, child.GetName(), found)
}

// isAbout reports whether the note of an Event has this name as a word.
func isAbout(event eventsv1.Event, name string) bool {
	for _, word := range strings.Fields(event.Note) {
		if strings.Trim(word, `"'.,:;()`) == name {
			return true
		}
	}
	return false
}

// fence lets the controller do something else, three times. What has happened before, the
// controller has then had the time to handle.
func (r *runner) fence() {
	r.t.Helper()
	for range 3 {
		r.repairSecond()
	}
}

// repairSecond lets the controller repair a child of the second object.
func (r *runner) repairSecond() {
	r.t.Helper()
	r.repair(r.second, r.second.children[0])
}

// repair deletes a child of an object, and waits until the controller has made it again.
func (r *runner) repair(f *family, child *unstructured.Unstructured) {
	r.t.Helper()
	before := r.mustGet(child)
	r.remove(child)
	r.until(func() error {
		if found, err := r.get(child); err == nil && found.GetUID() == before.GetUID() {
			return fmt.Errorf("%s is still there", describe(child))
		}
		return r.complete(f)
	})
}

// untouched fails the judgement if the controller has changed or deleted an object after the mark.
func (r *runner) untouched(mark int, object *unstructured.Unstructured) {
	r.t.Helper()
	aim := r.target(object)
	r.mustNotSend(mark, changes(aim))
}

// mustNotSend fails the judgement if the controller has sent a request that matches, after the mark.
func (r *runner) mustNotSend(mark int, matches func(*request) bool) {
	r.t.Helper()
	for _, sent := range r.wire.Find(mark, matches) {
		r.t.Errorf("the controller has sent: %s; want no such request", sent)
	}
}

// untilSent waits until the controller has sent n requests that match, after the mark.
func (r *runner) untilSent(mark, n int, what string, matches func(*request) bool) {
	r.t.Helper()
	r.until(func() error {
		if sent := len(r.wire.Find(mark, matches)); sent < n {
			return fmt.Errorf("the controller has sent %d times: %s; want %d times", sent, what, n)
		}
		return nil
	})
}

// untilHeld waits until a request is held.
func (r *runner) untilHeld(h *fault.Hold, what string) {
	r.t.Helper()
	r.until(func() error {
		if h.Held() == 0 {
			return fmt.Errorf("the controller has not sent: %s", what)
		}
		return nil
	})
}

// untilAnswered waits until the requests that were held have got their answers.
func (r *runner) untilAnswered(h *fault.Hold) {
	r.t.Helper()
	r.until(func() error {
		if n := h.Pending(); n > 0 {
			return fmt.Errorf("%d of the requests that were held have no answer yet", n)
		}
		return nil
	})
}

// look looks for what must not come, for the length of the window. It returns true if it came.
func (r *runner) look(came func() bool) bool {
	for end := time.Now().Add(window); time.Now().Before(end); time.Sleep(poll) {
		if came() {
			return true
		}
	}
	return came()
}

// replaceByFree deletes a child, waits until it is gone, and creates a free one with the same name.
func (r *runner) replaceByFree(child *unstructured.Unstructured) *unstructured.Unstructured {
	r.t.Helper()
	err := r.client(child).Delete(r.ctx, child.GetName(), metav1.DeleteOptions{})
	if !apierrors.IsNotFound(err) {
		must.NoError(r.t, err)
	}
	r.until(func() error { return r.gone(child) })
	return r.create(child)
}

// stillThere fails the judgement unless an object is still the same one.
func (r *runner) stillThere(object *unstructured.Unstructured) {
	r.t.Helper()
	found, err := r.get(object)
	switch {
	case err != nil:
		r.t.Errorf("%s is not there any more: %v", describe(object), err)
	case found.GetUID() != object.GetUID():
		r.t.Errorf("%s is another one now: it was deleted", describe(object))
	}
}
