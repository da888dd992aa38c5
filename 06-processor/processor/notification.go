package processor

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"
)

// A Kind is the kind of a change.
type Kind uint8

const (
	Added Kind = iota + 1
	Updated
	Deleted
	Synced // the end of the initial list; it has no object
)

// A Notification is one change of one object, as handlers get it. Nobody changes it after
// Distribute.
type Notification struct {
	Kind    Kind
	Initial bool   // only with Added: the object is in the initial list
	Key     string // of the object

	// Old is the state that was delivered last. It is nil with Added. New is the state that is
	// delivered now. With Deleted it is the last state of the object, or a
	// cache.DeletedFinalStateUnknown.
	Old, New any

	// skip holds the listeners that do not get this notification: it is a resync, and their
	// handlers are not due. It is nil if all listeners get the notification.
	skip map[Listener]bool
}

// IsNotFor reports whether a listener skips the notification. The check for nil saves time: most
// notifications have no map.
func (n *Notification) IsNotFor(listener Listener) bool { return n.skip != nil && n.skip[listener] }

// SameVersion reports whether the old and the new object have the same resource version: the
// object has not changed.
func (n *Notification) SameVersion() bool {
	before, err := meta.Accessor(n.Old)
	if err != nil {
		return false
	}
	after, err := meta.Accessor(n.New)
	if err != nil {
		return false
	}
	return before.GetResourceVersion() == after.GetResourceVersion()
}

// deliver calls the method of the handler that fits the kind.
func (n *Notification) deliver(handler cache.ResourceEventHandler) {
	switch n.Kind {
	case Added:
		handler.OnAdd(n.New, n.Initial)
	case Updated:
		handler.OnUpdate(n.Old, n.New)
	case Deleted:
		handler.OnDelete(n.New)
	}
}
