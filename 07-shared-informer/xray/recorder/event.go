// The events that a recorder gets.

package recorder

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// The kinds of events that no observer reports.
const (
	action        observer.Kind = "action" // the user pressed a button
	speedSet      observer.Kind = "speed"  // a handler has another speed, in both implementations
	statusChanged observer.Kind = "tick"   // the Status has changed, and no event says so
)

// An event is one thing that happened in one of the informers.
type event struct {
	observer.Event
	implementation Implementation
	time           time.Time
	caption        *caption // only of an action
	speed          Speed    // only of a speedSet
}

// change says in one word what happened to the object.
func (e *event) change() string {
	if e.Initial {
		return "initial"
	}
	switch e.Type {
	case "ADDED":
		return "add"
	case "MODIFIED":
		if e.sameVersion() {
			return "resync"
		}
		return "update"
	}
	if _, ok := e.New.(cache.DeletedFinalStateUnknown); ok {
		return "tombstone"
	}
	return "delete"
}

// sameVersion reports whether the object has the same resource version before and after.
func (e *event) sameVersion() bool {
	version := metadataOf(e.New).GetResourceVersion()
	return version != "" && version == metadataOf(e.Old).GetResourceVersion()
}

// name is the name of the object, without its namespace.
func (e *event) name() string {
	_, name, _ := cache.SplitMetaNamespaceKey(e.Key)
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
