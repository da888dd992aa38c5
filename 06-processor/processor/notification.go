// Package processor brings one notification to many handlers, each at a speed
// of its own.
package processor

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
)

// A Kind says what happened to an object.
type Kind uint8

const (
	Added Kind = iota + 1
	Updated
	Deleted
	synced // of no object: the initial list ends here
)

// A Notification is one change of one object, as it is delivered to handlers.
// Once it was distributed, nobody changes it.
type Notification struct {
	Kind    Kind
	Initial bool   // with Added: it is in the initial list
	Key     string // names the object, whatever becomes of it

	// Old is the state that was delivered last, nil with Added. New is the state
	// that is delivered now; with Deleted it is how the object ended: its last
	// state, or a cache.DeletedFinalStateUnknown.
	Old, New any

	// skip are the listeners that this is not for: it is a resync, and theirs
	// is not due.
	skip map[Listener]bool
}

// isNotFor is whether a listener skips the notification. Most have no such map, and
// to look into a map that is nil is not for free.
func (n *Notification) isNotFor(listener Listener) bool { return n.skip != nil && n.skip[listener] }

// deliver makes the call of the handler that the notification stands for.
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

// Event is the notification as an observer gets it.
func (n *Notification) Event(kind observer.Kind) observer.Event {
	types := [...]string{Added: "ADDED", Updated: "MODIFIED", Deleted: "DELETED"}
	return observer.Event{Kind: kind, Type: types[n.Kind], Key: n.Key, Old: n.Old, New: n.New, Initial: n.Initial}
}

// sameObject is whether two states are of one object, rather than of two
// with the same name.
func sameObject(one, other any) bool {
	a, err := meta.Accessor(one)
	if err != nil {
		return false
	}
	b, err := meta.Accessor(other)
	return err == nil && a.GetUID() == b.GetUID()
}
