package survival

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// untilDone waits until all is done for an object: its children and its status.
func (r *runner) untilDone(f *family) {
	r.t.Helper()
	r.until(func() error { return r.done(f) })
}

// done returns an error unless all is done for an object.
func (r *runner) done(f *family) error { return errors.Join(r.complete(f), r.statusIsTrue(f)) }

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
		got, want := field(found, path), field(child, path)
		if !reflect.DeepEqual(got, want) {
			return fmt.Errorf("%s: %s is %v, want exactly %v", describe(child), path, got, want)
		}
	}
	return nil
}

// noOthers returns an error if the object has a child that it does not want.
func (r *runner) noOthers(f *family, owner *unstructured.Unstructured) error {
	for _, child := range r.object.children {
		list, err := r.client(child).List(r.ctx, metav1.ListOptions{})
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

// untilGone waits until an object and its children are gone.
func (r *runner) untilGone(f *family) {
	r.t.Helper()
	for _, manifest := range append([]*unstructured.Unstructured{f.object}, f.children...) {
		r.until(func() error { return r.gone(manifest) })
	}
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
			return fmt.Errorf("status.%s is %v, as if all were done", field, status[field])
		}
	}
	return nil
}

// untilEvent waits until an Event names the child, if the controller records Events.
func (r *runner) untilEvent(f *family, child *unstructured.Unstructured, eventType string) {
	r.t.Helper()
	if r.Reason != "" {
		r.until(func() error { return r.eventNames(f, child, eventType) })
	}
}

// eventNames returns an error unless there is an Event of this type on the object that names the child.
// A normal one has the Reason, and a Warning any.
func (r *runner) eventNames(f *family, child *unstructured.Unstructured, eventType string) error {
	owner, err := r.get(f.object)
	if err != nil {
		return err
	}
	events, err := r.Client.EventsV1().Events(r.Namespace).List(r.ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	var found []string
	for _, event := range events.Items {
		if event.Regarding.UID != owner.GetUID() {
			continue
		}
		isReason := event.Reason == r.Reason || eventType == corev1.EventTypeWarning
		if strings.Contains(event.Note, child.GetName()) && event.Type == eventType && isReason {
			return nil
		}
		found = append(found, fmt.Sprintf("%s %s: %s", event.Type, event.Reason, event.Note))
	}
	return fmt.Errorf("no Event on %s of type %s names %s; its Events are %q",
		describe(owner), eventType, child.GetName(), found)
}

// mustBeThere fails the scenario unless an object is still the same one.
func (r *runner) mustBeThere(object *unstructured.Unstructured) {
	r.t.Helper()
	found, err := r.get(object)
	switch {
	case err != nil:
		r.t.Errorf("%s is not there any more: %v", describe(object), err)
	case found.GetUID() != object.GetUID():
		r.t.Errorf("%s is another one now: it was deleted", describe(object))
	}
}

// mustHaveFinalizer fails the scenario unless an object is there, with this finalizer.
func (r *runner) mustHaveFinalizer(object *unstructured.Unstructured, want string) {
	r.t.Helper()
	if got := r.mustGet(object).GetFinalizers(); !slices.Contains(got, want) {
		r.t.Errorf("%s has the finalizers %q, want %q among them", describe(object), got, want)
	}
}
