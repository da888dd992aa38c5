// From a pop of the queue to the store, and from the store to the handlers.

package classic

import (
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

// handleDeltas takes all changes of one object that waited in the queue. It runs under the lock of
// the queue: an object is always in the queue or in the store, and the queue compares a new list
// with both.
func (s *SharedIndexInformer) handleDeltas(deltas cache.Deltas, isInInitialList bool) error {
	s.blockDeltas.Lock()
	defer s.blockDeltas.Unlock()
	return processDeltas(s, s.indexer, deltas, isInInitialList)
}

// processDeltas makes the changes in the store, oldest first, and calls the handler after each of
// them. The store decides between add and update, not the type of the delta.
func processDeltas(handler cache.ResourceEventHandler, clientState cache.Store, deltas cache.Deltas,
	isInInitialList bool) error {
	for i, delta := range deltas {
		obj := delta.Object
		old, exists, err := clientState.Get(obj)
		if err != nil {
			return err
		}
		switch {
		case delta.Type == cache.Deleted:
			if err := clientState.Delete(obj); err != nil {
				return err
			}
			handler.OnDelete(obj)
		case exists:
			if err := clientState.Update(obj); err != nil {
				return err
			}
			handler.OnUpdate(old, obj)
		default:
			if err := clientState.Add(obj); err != nil {
				return err
			}
			handler.OnAdd(obj, isInInitialList && i == 0) // a later add is of an object that came back
		}
	}
	return nil
}

// The informer is the handler that processDeltas calls. It passes each call on to all handlers, and
// waits for none of them.
var _ cache.ResourceEventHandler = (*SharedIndexInformer)(nil)

// OnAdd implements cache.ResourceEventHandler. processDeltas calls it, while blockDeltas is held.
func (s *SharedIndexInformer) OnAdd(obj any, isInInitialList bool) {
	s.cacheMutationDetector.AddObject(obj)
	s.processor.Distribute(processor.Notification{
		Kind: processor.Added, Initial: isInInitialList, Key: keyOf(obj), New: obj,
	})
}

// OnUpdate implements cache.ResourceEventHandler. An update to the same version comes from a resync
// or from a new list. It goes only to the handlers that are due for a resync.
func (s *SharedIndexInformer) OnUpdate(oldObj, newObj any) {
	s.cacheMutationDetector.AddObject(newObj)
	n := processor.Notification{Kind: processor.Updated, Key: keyOf(newObj), Old: oldObj, New: newObj}
	if n.SameVersion() {
		s.processor.Resync(n)
		return
	}
	s.processor.Distribute(n)
}

// OnDelete implements cache.ResourceEventHandler.
func (s *SharedIndexInformer) OnDelete(obj any) {
	s.processor.Distribute(processor.Notification{Kind: processor.Deleted, Key: keyOf(obj), New: obj})
}

// keyOf is the key of an object that is or was in the store, or of its tombstone.
func keyOf(obj any) string {
	key, _ := cache.DeletionHandlingMetaNamespaceKeyFunc(obj) // no error: the store has found the key, too
	return key
}
