package informer

import (
	"errors"
	"fmt"
	"strings"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

// changes is the store that the reflector of an Informer writes to. Each call changes the store of
// the informer first, and then notifies the handlers.
type changes struct{ *Informer }

var (
	_ cache.TransformingStore      = changes{}
	_ cache.ReflectorBookmarkStore = changes{}
)

// Add takes an Added event of the watch.
func (c changes) Add(event any) (err error) {
	defer func() { c.taken(event, err) }()
	obj, key, err := c.prepared(event)
	if err != nil {
		return err
	}
	c.blockDeltas.Lock()
	defer c.blockDeltas.Unlock()
	old, err := c.indexer.Put(key, obj)
	if err != nil {
		return err
	}
	c.notify(c.notification(key, old, obj))
	return nil
}

// taken wakes WaitForVersion: the store has taken an event, or refused it.
func (c changes) taken(event any, err error) {
	if err != nil {
		c.refusals.add(event)
	}
	c.version.send()
}

// Update is Add: the store decides whether an object is new, not the event.
func (c changes) Update(obj any) error { return c.Add(obj) }

// Delete takes a Deleted event of the watch. If the store does not hold the object, the handlers
// are not notified.
func (c changes) Delete(event any) (err error) {
	defer func() { c.taken(event, err) }()
	obj, key, err := c.prepared(event)
	if err != nil {
		return err
	}
	c.blockDeltas.Lock()
	defer c.blockDeltas.Unlock()
	if old := c.indexer.Remove(key, obj); old != nil {
		c.notify(processor.Notification{Kind: processor.Deleted, Key: key, Old: old, New: obj})
	}
	return nil
}

// Replace takes a list. In one step, the store gets all objects of the list, and loses those that
// are not in it. The watch has missed the delete of these: handlers get a tombstone with the last
// known state. If an object is in the list twice, the last one counts.
func (c changes) Replace(list []any, version string) error {
	keys, objs := make([]string, 0, len(list)), list[:0] // reuse the memory of the list, which is ours
	for _, obj := range list {
		obj, key, err := c.prepared(obj)
		if errors.Is(err, errNoName) { // the rest of the list is still of use
			utilruntime.HandleError(fmt.Errorf("an object of a list is left out: %w", err))
			continue
		}
		if err != nil {
			return err
		}
		keys, objs = append(keys, key), append(objs, obj)
	}
	c.blockDeltas.Lock()
	defer c.blockDeltas.Unlock()
	defer c.version.send()
	listed, gone, err := c.indexer.ReplaceAll(keys, objs, version)
	if err != nil {
		return err
	}
	c.refusals.clear() // the list is newer than all refused events
	for _, change := range gone {
		c.notify(processor.Notification{Kind: processor.Deleted, Key: change.Key, Old: change.Old,
			New: cache.DeletedFinalStateUnknown{Key: change.Key, Obj: change.Old}})
	}
	for _, change := range listed {
		c.notify(c.notification(change.Key, change.Old, change.New))
	}
	if !c.HasSynced() {
		close(c.synced)
		c.processor.Synced()
	}
	return nil
}

// prepared returns the object after the transform, and its key. It refuses an object without a
// name: no server has such an object, and only a new list could take it out of the store again.
func (c changes) prepared(obj any) (any, string, error) {
	if c.transform != nil {
		var err error
		if obj, err = c.transform(obj); err != nil {
			return nil, "", err
		}
	}
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		return nil, "", err
	}
	if key == "" || strings.HasSuffix(key, "/") {
		return nil, "", fmt.Errorf("%T %w", obj, errNoName)
	}
	return obj, key, nil
}

var errNoName = errors.New("has no name")

// notification is an add or an update. The store decides between them, not the type of the event:
// old is the object that the store held, or nil.
func (c changes) notification(key string, old, obj any) processor.Notification {
	if old == nil {
		return processor.Notification{Kind: processor.Added, Initial: !c.HasSynced(), Key: key, New: obj}
	}
	return processor.Notification{Kind: processor.Updated, Key: key, Old: old, New: obj}
}

// notify notifies the handlers of a change that is in the store. An update to the same version
// comes from a new list. It goes only to the handlers that are due for a resync.
func (c changes) notify(n processor.Notification) {
	if c.observer != nil {
		stored := n.Event(observer.Stored)
		stored.Version = c.indexer.LastStoreSyncResourceVersion()
		c.observer.Observe(stored)
	}
	if n.Kind != processor.Deleted {
		c.cacheMutationDetector.AddObject(n.New)
	}
	if n.Kind == processor.Updated && n.SameVersion() {
		c.processor.Resync(n)
		return
	}
	c.processor.Distribute(n)
}

// Resync notifies the handlers that are due of every object in the store. It makes no request.
func (c changes) Resync() error {
	c.blockDeltas.Lock()
	defer c.blockDeltas.Unlock()
	for key, obj := range c.indexer.Snapshot().All() {
		c.cacheMutationDetector.AddObject(obj)
		c.processor.Resync(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
	return nil
}

// Bookmark takes a version that the watch has reached without an event of an object.
func (c changes) Bookmark(version string) error {
	c.indexer.Bookmark(version)
	c.version.send()
	return nil
}

// Transformer returns the transform for the reflector. The reflector transforms the objects of a
// streamed list one by one, before it has all of them in memory. Replace transforms them once more.
func (c changes) Transformer() cache.TransformFunc { return c.transform }
