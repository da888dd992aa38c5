// Folding: what is left to tell to one who has not listened for a while.

package processor

import "container/list"

// A backlog holds, for each object, what its listener is to be told: one change,
// or a delete and an add. So it is as large as there are objects, with those that
// the listener knew and that are gone, however much has happened to them. The
// zero value is ready for use.
type backlog struct {
	order list.List // of *untold; who changed first comes first
	byKey map[string]*list.Element
}

// untold is what there is to tell of one object.
type untold struct {
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
		b.byKey[n.Key] = b.order.PushBack(&untold{n.Key, []Notification{n}})
		return
	}
	object := element.Value.(*untold)
	if object.changes = fold(object.changes, n); len(object.changes) == 0 {
		b.remove(element)
	}
}

// pop takes out what there is to tell of the first object; nil if there is
// none.
func (b *backlog) pop() []Notification {
	element := b.order.Front()
	if element == nil {
		return nil
	}
	b.remove(element)
	return element.Value.(*untold).changes
}

func (b *backlog) remove(element *list.Element) {
	b.order.Remove(element)
	delete(b.byKey, element.Value.(*untold).key)
	if len(b.byKey) == 0 {
		b.byKey = nil // a map keeps the memory of what was in it
	}
}

// len counts an object once.
func (b *backlog) len() int { return b.order.Len() }

// fold returns what is to be told in the place of some changes of an object,
// and one more. Whoever is told that, and not the rest, ends up with the same
// state, out of states that were; and what he is told is old is what he was told
// of before.
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
