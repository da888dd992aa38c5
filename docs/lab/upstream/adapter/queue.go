package adapter

import (
	"errors"

	"k8s.io/client-go/tools/cache"
)

// A FIFO is client-go's. It knows what it has been given: client-go's has methods
// for that in its tests only.
type FIFO struct {
	*cache.FIFO
	has cache.Store
}

// NewFIFO is cache.NewFIFO.
func NewFIFO(key cache.KeyFunc) *FIFO { return &FIFO{cache.NewFIFO(key), cache.NewStore(key)} }

// Add adds an object.
func (f *FIFO) Add(obj any) error { return errors.Join(f.has.Add(obj), f.FIFO.Add(obj)) }

// Update changes an object.
func (f *FIFO) Update(obj any) error { return errors.Join(f.has.Update(obj), f.FIFO.Update(obj)) }

// Delete takes an object out.
func (f *FIFO) Delete(obj any) error { return errors.Join(f.has.Delete(obj), f.FIFO.Delete(obj)) }

// Replace makes these objects the contents.
func (f *FIFO) Replace(objs []any, version string) error {
	return errors.Join(f.has.Replace(objs, version), f.FIFO.Replace(objs, version))
}

// List returns the objects. No test asks after a Pop.
func (f *FIFO) List() []any { return f.has.List() }

// Get returns the object with the key of obj.
func (f *FIFO) Get(obj any) (item any, exists bool, err error) { return f.has.Get(obj) }

// Pop waits for an object, and takes it out.
func Pop(queue cache.Queue) (obj any) {
	_, err := queue.Pop(func(popped any, _ bool) error {
		obj = popped
		return nil
	})
	panicOn(err)
	return obj
}

// Items returns the changes that are in a queue, and closes it.
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

// Objects returns the objects of the changes that are in a queue, and closes it.
func Objects(queue cache.Queue) (objs []any) {
	for _, item := range Items(queue) {
		objs = append(objs, item.Object)
	}
	return objs
}
