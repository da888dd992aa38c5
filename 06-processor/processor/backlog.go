// Folding: what is left to deliver to a listener that is far behind.

package processor

import "container/list"

// A backlog holds, for each object, what is to be delivered: one change, or a
// delete and an add. Its size is the number of objects, with those that the
// listener knew and that are gone, however often they have changed. The zero
// value is ready for use.
type backlog struct {
	order list.List // of *pending; the object that changed first comes first
	byKey map[string]*list.Element
}

// pending is what is to be delivered of one object.
type pending struct {
	key     string
	changes []Notification
}

// fold adds a notification.
func (b *backlog) fold(n Notification) {
	element, ok := b.byKey[n.Key]
	if !ok {
		if b.byKey == nil {
			b.byKey = map[string]*list.Element{}
		}
		b.byKey[n.Key] = b.order.PushBack(&pending{n.Key, []Notification{n}})
		return
	}
	object := element.Value.(*pending)
	if object.changes = fold(object.changes, n); len(object.changes) == 0 {
		b.remove(element)
	}
}

// pop takes out the changes of the first object. It returns nil if there is no
// object.
func (b *backlog) pop() []Notification {
	element := b.order.Front()
	if element == nil {
		return nil
	}
	b.remove(element)
	return element.Value.(*pending).changes
}

func (b *backlog) remove(element *list.Element) {
	b.order.Remove(element)
	delete(b.byKey, element.Value.(*pending).key)
	if len(b.byKey) == 0 {
		b.byKey = nil // a map keeps the memory of what was in it
	}
}

// has is whether something is to be delivered under a key.
func (b *backlog) has(key string) bool { return b.byKey[key] != nil }

// size counts an object once.
func (b *backlog) size() int { return b.order.Len() }

// fold returns what is to be delivered in the place of some changes of an object
// and one more. A handler that gets only this ends up with the same state. Each
// state that it gets did exist, and each old state is the one that it got before.
func fold(changes []Notification, n Notification) []Notification {
	if len(changes) == 0 {
		return []Notification{n}
	}
	last := &changes[len(changes)-1]
	switch {
	case last.Kind == Added && n.Kind == Updated:
		last.New = n.New
	case last.Kind == Added && n.Kind == Deleted:
		return changes[:len(changes)-1]
	case last.Kind == Updated && n.Kind == Updated:
		last.New = n.New
	case last.Kind == Updated && n.Kind == Deleted:
		last.Kind, last.New = Deleted, n.New
	case last.Kind == Deleted && n.Kind == Added && sameObject(last.Old, n.New):
		last.Kind, last.New = Updated, n.New
	default: // another object under the same name
		return append(changes, n)
	}
	return changes
}
