// A list that comes object by object.

package reflector

import "k8s.io/client-go/tools/cache"

// A collector collects a streamed list. Changes that come in the middle of it are
// made to the list. Objects are transformed as they come, so that none is in memory
// whole for longer than needed.
type collector struct {
	transform cache.TransformFunc // or nil
	at        map[string]int      // where the object of a key is
	objs      []any               // nil where an object was deleted
	version   string
}

func newCollector(store cache.ReflectorStore) *collector {
	c := &collector{at: map[string]int{}}
	if transforming, ok := store.(cache.TransformingStore); ok {
		c.transform = transforming.Transformer()
	}
	return c
}

// Add adds an object, or puts it in the place of the one with its key.
func (c *collector) Add(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if c.transform != nil {
		if obj, err = c.transform(obj); err != nil {
			return err
		}
	}
	if at, ok := c.at[key]; ok {
		c.objs[at] = obj
		return nil
	}
	c.at[key] = len(c.objs)
	c.objs = append(c.objs, obj)
	return nil
}

// Update is Add.
func (c *collector) Update(obj any) error { return c.Add(obj) }

// Delete takes an object out.
func (c *collector) Delete(obj any) error {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		return cache.KeyError{Obj: obj, Err: err}
	}
	if at, ok := c.at[key]; ok {
		c.objs[at] = nil
		delete(c.at, key)
	}
	return nil
}

// list returns what is there now.
func (c *collector) list() []any {
	if len(c.at) == len(c.objs) {
		return c.objs
	}
	list := make([]any, 0, len(c.at))
	for _, at := range c.at {
		list = append(list, c.objs[at])
	}
	return list
}
