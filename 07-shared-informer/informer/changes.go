// How the reflector's calls become changes of the store and notifications.

package informer

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"

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
func (c changes) Add(obj any) error {
	obj, key, err := c.prepared(obj)
	if err != nil {
		return err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	old, _, _ := c.indexer.GetByKey(key) // it never fails
	if err := c.indexer.Update(obj); err != nil {
		return err
	}
	c.tell(c.news(key, old, obj))
	return nil
}

// Update is Add: whether something is new is not for the event to say.
func (c changes) Update(obj any) error { return c.Add(obj) }

// Delete takes an event of the watch. Of what was never told, no end is told.
func (c changes) Delete(obj any) error {
	obj, key, err := c.prepared(obj)
	if err != nil {
		return err
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	old, exists, _ := c.indexer.GetByKey(key)
	if err := c.indexer.Delete(obj); err != nil || !exists {
		return err
	}
	c.tell(processor.Notification{Kind: processor.Deleted, Key: key, Old: old, New: obj})
	return nil
}

// Replace takes a list. The store has all of it at once, and lacks at once what
// the list lacks. What the list names twice is told once, as it was named last.
func (c changes) Replace(list []any, version string) error {
	keys, objs := make([]string, 0, len(list)), list[:0] // the list is ours
	listed := make(map[string]int, len(list))            // where the object of a key is in both
	for _, obj := range list {
		obj, key, err := c.prepared(obj)
		if errors.Is(err, errNoName) { // without it the list is still of use
			utilruntime.HandleError(fmt.Errorf("an object of a list is left out: %w", err))
			continue
		}
		if err != nil {
			return err
		}
		if at, twice := listed[key]; twice {
			objs[at] = obj
			continue
		}
		listed[key] = len(keys)
		keys, objs = append(keys, key), append(objs, obj)
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	ends, olds := c.deletions(listed), make([]any, len(keys))
	for i, key := range keys {
		olds[i], _, _ = c.indexer.GetByKey(key)
	}
	if err := c.indexer.Replace(objs, version); err != nil {
		return err
	}
	for _, end := range ends {
		c.tell(end)
	}
	for i, key := range keys {
		c.tell(c.news(key, olds[i], objs[i]))
	}
	if !c.HasSynced() {
		close(c.synced)
		c.processor.Synced()
	}
	return nil
}

// prepared is an object as it is to be stored, and its key. One that has no name
// is refused: it is of no server's making, and nobody could ever take it out of
// the store again.
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

// deletions are the ends of what the store holds and a list lacks. Nobody saw
// how: all that can be handed on is the last state that was known.
func (c changes) deletions(listed map[string]int) (news []processor.Notification) {
	for _, key := range c.indexer.ListKeys() {
		if _, ok := listed[key]; ok {
			continue
		}
		old, _, _ := c.indexer.GetByKey(key)
		news = append(news, processor.Notification{
			Kind: processor.Deleted, Key: key, Old: old, New: cache.DeletedFinalStateUnknown{Key: key, Obj: old},
		})
	}
	return news
}

// news is what a stored object means to those who know what the store held: an
// add, or an update, and not what an event calls it.
func (c changes) news(key string, old, obj any) processor.Notification {
	if old == nil {
		return processor.Notification{Kind: processor.Added, Initial: !c.HasSynced(), Key: key, New: obj}
	}
	return processor.Notification{Kind: processor.Updated, Key: key, Old: old, New: obj}
}

// tell distributes what was stored. An update to the same version, out of a new
// list, is no news: it is for handlers that want resyncs.
func (c changes) tell(n processor.Notification) {
	if n.Kind != processor.Deleted {
		c.mutations.AddObject(n.New)
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

// Resync tells of all that is stored to those who are due. The server is not
// asked.
func (c changes) Resync() error {
	c.changing.Lock()
	defer c.changing.Unlock()
	for _, key := range c.indexer.ListKeys() {
		obj, _, _ := c.indexer.GetByKey(key)
		c.mutations.AddObject(obj)
		c.processor.Resync(processor.Notification{Kind: processor.Updated, Key: key, Old: obj, New: obj})
	}
	return nil
}

// Bookmark says how far the watch has come, though nothing has changed.
func (c changes) Bookmark(version string) error {
	c.indexer.Bookmark(version)
	return nil
}

// Transformer lets the reflector transform the objects of a streamed list as
// they come, before it has all of them in memory. They come here once more.
func (c changes) Transformer() cache.TransformFunc { return c.transform }
