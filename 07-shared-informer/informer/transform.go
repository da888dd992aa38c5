// Objects go through the transform before they are queued.

package informer

import "k8s.io/client-go/tools/cache"

// A transformingQueue is a queue whose objects go through the transform before they are queued, in
// the goroutine of the reflector. (client-go's queues do this themselves.)
type transformingQueue struct {
	Queue
	transform cache.TransformFunc // nil: objects stay as they are
	refused   func(event any)     // called with an event for which the transform has failed
}

var (
	_ cache.TransformingStore      = (*transformingQueue)(nil)
	_ cache.ReflectorBookmarkStore = (*transformingQueue)(nil)
)

// Add queues an Added event of the watch.
func (q *transformingQueue) Add(event any) error {
	obj, err := q.transformed(event)
	if err != nil {
		return err
	}
	return q.Queue.Add(obj)
}

// Update queues a Modified event of the watch.
func (q *transformingQueue) Update(event any) error {
	obj, err := q.transformed(event)
	if err != nil {
		return err
	}
	return q.Queue.Update(obj)
}

// Delete queues a Deleted event of the watch.
func (q *transformingQueue) Delete(event any) error {
	obj, err := q.transformed(event)
	if err != nil {
		return err
	}
	return q.Queue.Delete(obj)
}

func (q *transformingQueue) transformed(event any) (any, error) {
	if q.transform == nil {
		return event, nil
	}
	obj, err := q.transform(event)
	if err != nil {
		q.refused(event)
	}
	return obj, err
}

// Replace queues a list. If the transform fails for one object, the whole list is refused.
func (q *transformingQueue) Replace(list []any, version string) error {
	if q.transform != nil {
		for n, obj := range list { // the list is ours: its memory is used again
			var err error
			if list[n], err = q.transform(obj); err != nil {
				return err
			}
		}
	}
	return q.Queue.Replace(list, version)
}

// Bookmark queues a version that the watch has reached without an event of an object. A queue
// without an order between objects has no place for it.
func (q *transformingQueue) Bookmark(version string) error {
	if ordered, ok := q.Queue.(cache.ReflectorBookmarkStore); ok {
		return ordered.Bookmark(version)
	}
	return nil
}

// Transformer returns the transform for the reflector. The reflector transforms the objects of a
// streamed list one by one, before it has all of them in memory. Replace transforms them once more.
func (q *transformingQueue) Transformer() cache.TransformFunc { return q.transform }
