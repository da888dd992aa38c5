// How the reflector's calls become changes of the store and notifications.

package informer

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/06-processor/processor"
)

// changes is the side of an Informer that its reflector writes to: the store
// first, then the handlers.
type changes struct{ *Informer }

var (
	_ cache.TransformingStore      = changes{}
	_ cache.ReflectorBookmarkStore = changes{}
)

// Add takes an event of the watch.
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

// taken lets WaitForVersion look again: an event was stored, or refused.
func (c changes) taken(event any, err error) {
	if err != nil {
		c.refusals.add(event)
	}
	c.version.send()
}

// Update is Add: the store decides whether an object is new, not the event.
func (c changes) Update(obj any) error { return c.Add(obj) }

// Delete takes an event of the watch. The deletion of an object that the store
// does not hold is no event for handlers.
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

// Replace takes a list. The store gets all of it at once, and loses at once what
// the list lacks. Nobody saw that deletion: handlers get a tombstone with the last
// known state. An object that is twice in the list counts once: the last one.
func (c changes) Replace(list []any, version string) error {
	keys, objs := make([]string, 0, len(list)), list[:0] // the list is ours
	for _, obj := range list {
		obj, key, err := c.prepared(obj)
		if errors.Is(err, errNoName) { // without it the list is still of use
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
	c.refusals.clear() // what it says now has all that came before
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

// prepared returns the object to be stored, transformed, and its key. An object
// without a name is refused: no server makes such a thing, and only a new list
// could take it out of the store again.
func (c changes) prepared(obj any) (any, string, error) {
	if c.transform != nil {
		var err error
		if obj, err = c.transform(obj); err != nil {
			return nil, "", err
		}
	}
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err == nil && (key == "" || strings.HasSuffix(key, "/")) {
		err = fmt.Errorf("%T %w", obj, errNoName)
	}
	return obj, key, err
}

var errNoName = errors.New("has no name")

// notification is an add or an update. What the store held decides, and not what
// the event is called.
func (c changes) notification(key string, old, obj any) processor.Notification {
	if old == nil {
		return processor.Notification{Kind: processor.Added, Initial: !c.HasSynced(), Key: key, New: obj}
	}
	return processor.Notification{Kind: processor.Updated, Key: key, Old: old, New: obj}
}

// notify distributes what was stored. An update to the same version comes from a
// new list: it goes to the handlers that want resyncs.
func (c changes) notify(n processor.Notification) {
	if c.observer != nil {
		stored := n.Event(observer.Stored)
		stored.Version = c.indexer.LastStoreSyncResourceVersion()
		c.observer.Observe(stored)
	}
	if n.Kind != processor.Deleted {
		c.cacheMutationDetector.AddObject(n.New)
	}
	if n.Kind == processor.Updated && sameVersion(n.Old, n.New) {
		c.processor.Resync(n)
		return
	}
	c.processor.Distribute(n)
}

func sameVersion(one, other any) bool {
	a, err := meta.Accessor(one)
	if err != nil {
		return false
	}
	b, err := meta.Accessor(other)
	return err == nil && a.GetResourceVersion() == b.GetResourceVersion()
}

// Resync notifies the handlers that are due of all that is stored. It makes no
// request.
func (c changes) Resync() error {
	c.blockDeltas.Lock()
	defer c.blockDeltas.Unlock()
	for key, obj := range c.indexer.Snapshot().All() {
		c.cacheMutationDetector.AddObject(obj)
		c.processor.Resync(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
	return nil
}

// Bookmark takes the version that the watch has come to without an event.
func (c changes) Bookmark(version string) error {
	c.indexer.Bookmark(version)
	c.version.send()
	return nil
}

// Transformer lets the reflector transform the objects of a streamed list as
// they come, before it has all of them in memory. They come here once more.
func (c changes) Transformer() cache.TransformFunc { return c.transform }
