package processor

import "container/list"

// A backlog holds the folded changes for a listener that is far behind. For each object it has one
// change, or a delete and an add. Its size is the number of objects, including deleted objects that
// the listener knows. The number of changes does not matter. The zero value is ready for use.
type backlog struct {
	order list.List // of *pending, in the order in which the objects changed first
	byKey map[string]*list.Element
}

// pending holds the changes of one object that are to be delivered.
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
	object.changes = fold(object.changes, n)
	if len(object.changes) == 0 {
		b.remove(element)
	}
}

// pop removes the first object and returns its changes. It returns nil if the backlog is empty.
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
		b.byKey = nil // for the garbage collector: a map that shrinks keeps its memory
	}
}

// contains reports whether the backlog has changes under a key.
func (b *backlog) contains(key string) bool { return b.byKey[key] != nil }

// size is the number of objects in the backlog.
func (b *backlog) size() int { return b.order.Len() }

// fold adds one more change of an object to some changes of it, and returns the changes to be delivered
// in their place. A handler that gets only these has the same state in the end. Each state that it gets
// did exist, and each old state is the one that it got before.
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
