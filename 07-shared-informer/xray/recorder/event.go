// An event, and what can be read off it alone.

package recorder

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// The lanes: our informer, and client-go's on the same objects.
const (
	Ours   = "ours"
	Theirs = "client-go"
)

// The paces of a handler.
const (
	Fast    = "fast"
	Slow    = "slow"    // SlowCall for each call
	Stalled = "stalled" // it does not return until its pace changes

	SlowCall = 200 * time.Millisecond
)

// Kinds of events that no observer reports.
const (
	action  observer.Kind = "action" // of the user
	paceSet observer.Kind = "pace"   // of a handler, in both lanes
	tick    observer.Kind = "tick"   // the state has changed without an event
)

// An event is what happened in one lane.
type event struct {
	observer.Event
	lane    string
	at      time.Time
	caption *caption // of an action
}

// A caption explains what happened, and links to where the book has more.
type caption struct {
	Text string `json:"text"`
	Link string `json:"link"`
}

// change is what happened to the object, in one word.
func (e *event) change() string {
	_, tombstone := e.New.(cache.DeletedFinalStateUnknown)
	version := about(e.New).GetResourceVersion()
	switch {
	case e.Initial:
		return "initial"
	case e.Type == "ADDED":
		return "add"
	case e.Type == "MODIFIED" && version != "" && about(e.Old).GetResourceVersion() == version:
		return "resync"
	case e.Type == "MODIFIED":
		return "update"
	case tombstone:
		return "tombstone"
	}
	return "delete"
}

// name is the object's, without its namespace.
func (e *event) name() string {
	_, name, _ := cache.SplitMetaNamespaceKey(e.Key)
	return name
}

// about is the metadata of an object, or of the one in a tombstone. Where there is no
// object, it is empty.
func about(obj any) metav1.Object {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	if found, err := meta.Accessor(obj); err == nil {
		return found
	}
	return &metav1.ObjectMeta{}
}
