package watchdog

import (
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// inbox is the store that the reflector writes to: the queue of chapter 01, with three additions.
// It checks each object, it knows which objects are in the first list (isInInitialList), and it
// knows when the handler has returned from all of them (HasSynced).
type inbox struct {
	*deltafifo.Queue
	opts Options

	mu     sync.Mutex
	first  map[string]bool // keys of the first list that are not handled yet; nil before that list
	synced chan struct{}   // closed when all of the first list is handled
}

// key returns the key of an object or a tombstone. It refuses an object that has no key or no name,
// or that has another type than ObjectType. The error says which object it is.
func (b *inbox) key(obj any) (string, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return gone.Key, nil
	}
	if reflect.TypeOf(obj) != reflect.TypeOf(b.opts.ObjectType) {
		return "", fmt.Errorf("%s is no %T: ListerWatcher and ObjectType do not fit together",
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
	keys := make(map[string]bool, len(list))
	for _, obj := range list {
		key, err := b.key(obj)
		if err != nil {
			return err
		}
		keys[key] = true
	}
	b.mu.Lock()
	if b.first == nil {
		b.first = keys
		b.checkSynced()
	}
	b.mu.Unlock() // before Queue.Replace: apply locks mu while it holds the lock of the queue
	return b.Queue.Replace(list, version)
}

// isFirst is true for an object of the first list that is not handled yet.
func (b *inbox) isFirst(key string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.first[key]
}

// handled records that the handler has returned from the calls for this key.
func (b *inbox) handled(key string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.first[key] {
		delete(b.first, key)
		b.checkSynced()
	}
}

// checkSynced closes synced if first is empty. Its callers call it when first was set or has become
// smaller. Therefore it closes the channel once. The caller holds mu.
func (b *inbox) checkSynced() {
	if len(b.first) == 0 {
		close(b.synced)
	}
}
