package survival

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// playLife lets two objects come, change and go.
func playLife(r *runner) {
	r.start()
	r.judge("it makes the children of an object", func() {
		r.create(r.object.object)
		r.until(func() error {
			for _, child := range r.object.children {
				found, err := r.get(child)
				if err != nil {
					return err
				}
				if err := lacks(found.Object, child.Object, describe(child)+": "); err != nil {
					return err
				}
			}
			return nil
		})
	})
	r.judge("the object is the controller of its children", func() { r.untilComplete(r.object) })
	r.judge("the status says what is there", func() { r.untilDone(r.object) })
	r.judge("an Event names each child", func() {
		r.needs("Reason", r.Reason)
		owner := r.mustGet(r.object.object)
		for _, child := range r.object.children {
			r.until(func() error { return r.eventNames(owner, child, corev1.EventTypeNormal, r.Reason) })
		}
	})
	r.judge("it makes the children of a second object", func() {
		r.create(r.second.object)
		r.untilDone(r.second)
		r.untilDone(r.object)
	})
	r.judge("it follows a change of the object", func() {
		r.apply(r.changed)
		r.untilComplete(r.changed)
		r.untilDone(r.second)
	})
	r.judge("the status follows a change of the object", func() { r.untilDone(r.changed) })
	r.judge("a deleted object and its children go", func() {
		r.remove(r.object.object)
		r.until(func() error { return r.gone(r.object.object) })
		r.until(func() error { return r.childrenGone(r.object) })
		r.untilDone(r.second)
	})
	r.judge("it makes the children of a new object of the same name", func() {
		r.create(r.object.object)
		r.untilDone(r.object)
	})
}

// pokes is how many events come that ask for nothing.
const pokes = 10

// playQuiet counts what the controller writes when there is nothing to do.
func playQuiet(r *runner) {
	r.begin()
	object := r.mustGet(r.object.object)
	if r.Reason != "" { // the controller may record Events in the background
		for _, child := range r.object.children {
			r.until(func() error { return r.eventNames(object, child, corev1.EventTypeNormal, r.Reason) })
		}
	}
	mine := map[target]bool{r.target(object): true}
	for _, child := range r.object.children {
		mine[r.target(child)] = true
	}
	r.fence()
	mark := r.wire.Mark()
	r.judge("it writes nothing when all is done", func() {
		for i := range pokes {
			r.annotate(r.object.object, fmt.Sprint(i))
			r.annotate(r.kept, fmt.Sprint(i))
		}
		r.fence()
		found := r.wire.Find(mark, func(sent *request) bool { return writes(sent) && mine[targetOf(sent)] })
		if len(found) > 0 {
			r.t.Errorf("after %d changes that ask for nothing, it has sent %d writes, want 0; the first is: %s",
				2*pokes, len(found), found[0])
		}
	})
	r.judge("it records no Events when all is done", func() {
		events := r.wire.Find(mark, func(sent *request) bool {
			return eventAbout(sent) == object.GetUID()
		})
		if len(events) > 0 {
			r.t.Errorf("after %d changes that ask for nothing, it has recorded %d Events, want 0", 2*pokes, len(events))
		}
	})
}
