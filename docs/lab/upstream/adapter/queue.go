// Queues with the methods of client-go's tests.

package adapter

import (
	"errors"

	"k8s.io/client-go/tools/cache"
)

// A FIFO is client-go's FIFO with the methods List and Get, which client-go's FIFO has only in its
// tests.
type FIFO struct {
	*cache.FIFO
	objects cache.Store // those that were added and not deleted
}

// NewFIFO is cache.NewFIFO.
func NewFIFO(key cache.KeyFunc) *FIFO {
	return &FIFO{FIFO: cache.NewFIFO(key), objects: cache.NewStore(key)}
}

// Add adds an object.
func (f *FIFO) Add(obj any) error {
	if err := f.objects.Add(obj); err != nil {
		return err
	}
	return f.FIFO.Add(obj)
}

// Update changes an object.
func (f *FIFO) Update(obj any) error {
	if err := f.objects.Update(obj); err != nil {
		return err
	}
	return f.FIFO.Update(obj)
}

// Delete removes an object.
func (f *FIFO) Delete(obj any) error {
	if err := f.objects.Delete(obj); err != nil {
		return err
	}
	return f.FIFO.Delete(obj)
}

// Replace replaces all objects.
func (f *FIFO) Replace(objs []any, version string) error {
	if err := f.objects.Replace(objs, version); err != nil {
		return err
	}
	return f.FIFO.Replace(objs, version)
}

// List returns the objects. No test calls it after Pop.
func (f *FIFO) List() []any { return f.objects.List() }

// Get returns the object with the key of obj.
func (f *FIFO) Get(obj any) (item any, exists bool, err error) { return f.objects.Get(obj) }

// Pop waits for an object, removes it from the queue, and returns it.
func Pop(queue cache.Queue) (obj any) {
	_, err := queue.Pop(func(popped any, _ bool) error {
		obj = popped
		return nil
	})
	panicOn(err)
	return obj
}

// Items closes a queue, and returns the deltas that are left in it.
func Items(queue cache.Queue) (items []cache.Delta) {
	queue.Close()
	for {
		_, err := queue.Pop(func(deltas any, _ bool) error {
			items = append(items, deltas.(cache.Deltas)...)
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return items
		}
		panicOn(err)
	}
}

// Objects closes a queue, and returns the objects of the deltas that are left in it.
func Objects(queue cache.Queue) (objs []any) {
	for _, item := range Items(queue) {
		objs = append(objs, item.Object)
	}
	return objs
}
