package journal

import (
	"container/list"

	"k8s.io/apimachinery/pkg/api/meta"

	"example.com/informer/06-processor/processor"
)

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
	changes []processor.Notification
}

func (b *backlog) fold(n processor.Notification) {
	element, ok := b.byKey[n.Key]
	if !ok {
		if b.byKey == nil {
			b.byKey = map[string]*list.Element{}
		}
		b.byKey[n.Key] = b.order.PushBack(&pending{n.Key, []processor.Notification{n}})
		return
	}
	object := element.Value.(*pending)
	object.changes = fold(object.changes, n)
	if len(object.changes) == 0 {
		b.remove(element)
	}
}

// pop removes the first object and returns its changes. It returns nil if the backlog is empty.
func (b *backlog) pop() []processor.Notification {
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

// fold adds one more change of an object to some changes of it, and returns the changes to be
// delivered in their place. A handler that gets only these has the same state in the end. Each
// state that it gets did exist, and each old state is the one that it got before.
func fold(changes []processor.Notification, n processor.Notification) []processor.Notification {
	if len(changes) == 0 {
		return []processor.Notification{n}
	}
	last := &changes[len(changes)-1]
	switch {
	case last.Kind == processor.Added && n.Kind == processor.Updated:
		last.New = n.New
	case last.Kind == processor.Added && n.Kind == processor.Deleted:
		return changes[:len(changes)-1]
	case last.Kind == processor.Updated && n.Kind == processor.Updated:
		last.New = n.New
	case last.Kind == processor.Updated && n.Kind == processor.Deleted:
		last.Kind, last.New = processor.Deleted, n.New
	case last.Kind == processor.Deleted && n.Kind == processor.Added && sameObject(last.Old, n.New):
		last.Kind, last.New = processor.Updated, n.New
	default: // another object under the same name
		return append(changes, n)
	}
	return changes
}

// sameObject reports whether two states are of one object, and not of two objects with one name.
func sameObject(oldObj, newObj any) bool {
	before, err := meta.Accessor(oldObj)
	if err != nil {
		return false
	}
	after, err := meta.Accessor(newObj)
	if err != nil {
		return false
	}
	return before.GetUID() == after.GetUID()
}
