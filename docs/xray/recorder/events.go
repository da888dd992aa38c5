// The events that a recorder gets.

package recorder

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/journal"
)

// The events of handlers, whichever informer calls them. Our informer reports its own, which become
// these; of client-go's informer, somebody else has to report them.
type (
	// HandlerJoined: a handler was added.
	HandlerJoined struct{ Name string }

	// HandlerCalled: a handler has returned from a call. Waiting is the number of notifications that
	// are not delivered to it yet. For a handler of client-go's informer it means nothing.
	HandlerCalled struct {
		Name    string
		Change  processor.Notification
		Took    time.Duration
		Waiting int
	}

	// HandlerRemoved: a handler was removed.
	HandlerRemoved struct{ Name string }
)

// ListReceived is an event of client-go's informer: an object of a list has come.
type ListReceived struct {
	Key    string
	Object any
}

// What no observer reports.
type (
	handlerFolded struct {
		name           string
		saved, waiting int
	}

	// action: the user pressed a button.
	action struct{ caption caption }

	// speedSet: a handler has another speed, in both implementations.
	speedSet struct {
		name  string
		speed Speed
	}

	// loopSet: the loops that pop have another speed.
	loopSet struct{ speed Speed }

	// statusChanged: the Status has changed, and no event says so.
	statusChanged struct{}
)

// An event is one thing that happened in one of the informers.
type event struct {
	implementation Implementation
	time           time.Time
	what           any                     // an event of a part, or one of the types above
	change         *processor.Notification // of an object; nil if what is not about one
}

// newEvent brings the events of handlers into one form.
func newEvent(implementation Implementation, what any) event {
	e := event{implementation: implementation, time: time.Now(), what: what}
	switch w := what.(type) {
	case processor.Joined:
		e.what = HandlerJoined{w.Registration.HandlerName()}
	case processor.Called:
		e.what = HandlerCalled{w.Registration.HandlerName(), w.Notification, w.Took, w.Waiting}
	case journal.Folded:
		e.what = handlerFolded{w.Registration.HandlerName(), w.Saved, w.Waiting}
	case processor.Removed:
		e.what = HandlerRemoved{w.Registration.HandlerName()}
	}
	switch w := e.what.(type) {
	case deltaQueued:
		e.change = w.change
	case observer.Received:
		e.change = &processor.Notification{Kind: kindOf(w.Type), Key: w.Key, New: w.Object}
	case ListReceived:
		e.change = &processor.Notification{Kind: processor.Added, Initial: true, Key: w.Key, New: w.Object}
	case informer.Stored:
		e.change = &w.Notification
	case processor.Appended:
		e.change = &w.Notification
	case HandlerCalled:
		e.change = &w.Change
	}
	return e
}

func kindOf(t watch.EventType) processor.Kind {
	switch t {
	case watch.Added:
		return processor.Added
	case watch.Deleted:
		return processor.Deleted
	}
	return processor.Updated
}

// word says in a word what happened.
func (e *event) word() string {
	switch e.what.(type) {
	case observer.Listing:
		return "listing"
	case observer.Listed:
		return "listed"
	case observer.Watching:
		return "watching"
	case observer.Received, ListReceived:
		return "event"
	case observer.Bookmark:
		return "bookmark"
	case observer.LeftOut, informer.Refused:
		return "left out"
	case observer.Ended:
		return "ended"
	case observer.Expired:
		return "expired"
	case observer.BackingOff:
		return "backing off"
	case informer.Stored:
		return "stored"
	case processor.Appended:
		return "appended"
	case journal.ChunkStarted:
		return "chunk"
	case handlerFolded:
		return "folded"
	case HandlerJoined:
		return "joined"
	case HandlerCalled:
		return "called"
	case HandlerRemoved:
		return "removed"
	case deltaQueued:
		return "queued"
	case deltasPopped:
		return "popped"
	case deltaDropped:
		return "dropped"
	case listCompared:
		return "compared"
	case action:
		return "action"
	case speedSet, loopSet:
		return "speed"
	case statusChanged:
		return "tick"
	}
	return fmt.Sprintf("%T", e.what)
}

// changeWord says in one word what happened to an object.
func changeWord(n *processor.Notification) string {
	switch {
	case n.Initial:
		return "initial"
	case n.Kind == processor.Added:
		return "add"
	case n.Kind == processor.Updated && sameVersion(n):
		return "resync"
	case n.Kind == processor.Updated:
		return "update"
	}
	if _, ok := n.New.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone"
	}
	return "delete"
}

// sameVersion reports whether the object has the same resource version before and after.
func sameVersion(n *processor.Notification) bool {
	version := metadataOf(n.New).GetResourceVersion()
	return version != "" && version == metadataOf(n.Old).GetResourceVersion()
}

// nameOf returns a key without its namespace.
func nameOf(key string) string {
	_, name, _ := cache.SplitMetaNamespaceKey(key)
	return name
}

// metadataOf returns the metadata of an object, or of the object in a tombstone. If there is no
// object, the metadata is empty.
func metadataOf(obj any) metav1.Object {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	accessor, err := meta.Accessor(obj)
	if err != nil {
		return &metav1.ObjectMeta{}
	}
	return accessor
}
