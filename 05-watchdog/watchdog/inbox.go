package watchdog

import (
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// inbox is the store that the reflector writes to: the queue of chapter 01, with two additions. It
// checks each object. And it knows when the handler has returned from all objects of the first
// list: the queue only knows when they are popped.
type inbox struct {
	*deltafifo.Queue
	opts Options

	listed      bool          // there was a list; only Replace uses it
	synced      chan struct{} // closed when all of the first list is handled
	closeSynced func()        // closes synced; a second call does nothing
}

func newInbox(opts Options) *inbox {
	b := &inbox{opts: opts, synced: make(chan struct{})}
	b.closeSynced = sync.OnceFunc(func() { close(b.synced) })
	return b
}

// key returns the key of an object or a tombstone. It refuses an object that has no key or no name,
// or that has another type than ObjectType. The error says which object it is.
func (b *inbox) key(obj any) (string, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return gone.Key, nil
	}
	if reflect.TypeOf(obj) != reflect.TypeOf(b.opts.ObjectType) {
		return "", fmt.Errorf("%s is not a %T: ListerWatcher and ObjectType do not fit together",
			describe(obj), b.opts.ObjectType)
	}
	// No server sends an object without a name, but a proxy may. Its key would be "namespace/", and
	// no event could ever delete it again.
	if o, ok := obj.(metav1.Object); ok && o.GetName() == "" {
		return "", fmt.Errorf("a %T in namespace %q has no name", obj, o.GetNamespace())
	}
	key, err := b.opts.KeyFunction(obj)
	if err != nil {
		return "", fmt.Errorf("there is no key for %s: %w", describe(obj), err)
	}
	return key, nil
}

// describe returns the type, namespace and name of an object, for error messages. It does not use
// the KeyFunction, which may have failed.
func describe(obj any) string {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		key = "without a name"
	}
	return fmt.Sprintf("%T %s", obj, key)
}

// Add, Update and Delete are for single events. The inbox reports an event that it refuses, and
// drops it. The reflector would only log the error.
func (b *inbox) Add(obj any) error    { return b.put(obj, b.Queue.Add) }
func (b *inbox) Update(obj any) error { return b.put(obj, b.Queue.Update) }
func (b *inbox) Delete(obj any) error { return b.put(obj, b.Queue.Delete) }

func (b *inbox) put(obj any, enqueue func(any) error) error {
	if _, err := b.key(obj); err != nil {
		b.opts.OnError(fmt.Errorf("an event is dropped: %w", err))
		return nil
	}
	return enqueue(obj)
}

// Replace takes a list as a whole or not at all. If it took half of a list, the queue would delete
// the objects of the other half. The reflector reports the error, and lists again.
func (b *inbox) Replace(list []any, version string) error {
	for _, obj := range list {
		if _, err := b.key(obj); err != nil {
			return err
		}
	}
	if err := b.Queue.Replace(list, version); err != nil {
		return err
	}
	if !b.listed && len(list) == 0 {
		b.closeSynced() // nothing will be popped
	}
	b.listed = true
	return nil
}

// handled is called when the handler has returned from all calls of one pop, and before the next
// pop. If the queue has synced by then, the whole first list is handled.
func (b *inbox) handled() {
	if b.Queue.HasSynced() {
		b.closeSynced()
	}
}
