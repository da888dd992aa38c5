// From a pop of the queue to the store, and from the store to the handlers.

package informer

import (
	"errors"
	"fmt"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/06-processor/processor"
)

// handleDeltas makes changes that come out of the queue, oldest first. Several of them are changes
// of one object. If the store refuses one of them, the rest is dropped.
func (i *Informer) handleDeltas(deltas cache.Deltas, isInInitialList bool) error {
	i.blockDeltas.Lock()
	defer i.blockDeltas.Unlock()
	for n, delta := range deltas {
		err := i.processDelta(delta, isInInitialList && n == 0) // a later add is of an object that came back
		i.recordResult(delta, err)
		if err != nil {
			return err
		}
	}
	return nil
}

// processDelta makes a change in the store, and then notifies the handlers. The store decides
// between add and update, not the type of the delta. If the store does not hold the object of a
// delete, the handlers are not notified.
func (i *Informer) processDelta(delta cache.Delta, isInInitialList bool) error {
	switch delta.Type {
	case cache.ReplacedAll:
		return i.processReplacedAllInfo(delta.Object.(cache.ReplacedAllInfo), isInInitialList)
	case cache.SyncAll:
		i.processSyncAll()
		return nil
	case cache.Bookmark:
		i.indexer.Bookmark(delta.Object.(cache.BookmarkInfo).ResourceVersion)
		return nil
	}
	obj := delta.Object
	key, err := keyOf(obj)
	if err != nil {
		return err
	}
	if delta.Type == cache.Deleted {
		if old := i.indexer.Remove(key, obj); old != nil {
			i.notify(processor.Notification{Kind: processor.Deleted, Key: key, Old: old, New: obj})
		}
		return nil
	}
	old, err := i.indexer.Put(key, obj)
	if err != nil {
		return err
	}
	i.notify(notification(key, old, obj, isInInitialList))
	return nil
}

// processReplacedAllInfo compares a list with the store. In one step, the store gets all objects of
// the list, and loses those that are not in it. The watch has missed the delete of these: handlers
// get a tombstone with the last known state. If an object is in the list twice, the last one counts.
func (i *Informer) processReplacedAllInfo(info cache.ReplacedAllInfo, isInInitialList bool) error {
	keys, objs := make([]string, 0, len(info.Objects)), info.Objects[:0] // the list is ours
	for _, obj := range info.Objects {
		key, err := keyOf(obj)
		if errors.Is(err, errNoName) { // the rest of the list is still of use
			utilruntime.HandleError(fmt.Errorf("an object of a list is left out: %w", err))
			continue
		}
		if err != nil {
			return err
		}
		keys, objs = append(keys, key), append(objs, obj)
	}
	listed, gone, err := i.indexer.ReplaceAll(keys, objs, info.ResourceVersion)
	if err != nil {
		return err
	}
	for _, change := range gone {
		i.notify(processor.Notification{Kind: processor.Deleted, Key: change.Key, Old: change.Old,
			New: cache.DeletedFinalStateUnknown{Key: change.Key, Obj: change.Old}})
	}
	for _, change := range listed {
		i.notify(notification(change.Key, change.Old, change.New, isInInitialList))
	}
	return nil
}

// processSyncAll notifies the handlers that are due of every object in the store. It makes no
// request.
func (i *Informer) processSyncAll() {
	for key, obj := range i.indexer.All() {
		i.cacheMutationDetector.AddObject(obj)
		i.processor.Resync(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
}

// notification is an add or an update: old is the object that the store held, or nil.
func notification(key string, old, obj any, isInInitialList bool) processor.Notification {
	if old == nil {
		return processor.Notification{Kind: processor.Added, Initial: isInInitialList, Key: key, New: obj}
	}
	return processor.Notification{Kind: processor.Updated, Key: key, Old: old, New: obj}
}

// notify notifies the handlers of a change that is in the store, and waits for none of them. An
// update to the same version comes from a new list. It goes only to the handlers that are due for a
// resync.
func (i *Informer) notify(n processor.Notification) {
	i.observeStored(n)
	if n.Kind != processor.Deleted {
		i.cacheMutationDetector.AddObject(n.New)
	}
	if n.Kind == processor.Updated && n.SameVersion() {
		i.processor.Resync(n)
		return
	}
	i.processor.Distribute(n)
}

// keyOf returns the key of an object, or of its tombstone. It refuses an object without a name: no
// server has such an object, and only a new list could take it out of the store again.
func keyOf(obj any) (string, error) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return "", err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return "", fmt.Errorf("%T %w", obj, errNoName)
	}
	return key, nil
}

var errNoName = errors.New("has no name")
