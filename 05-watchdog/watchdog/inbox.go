// What the reflector pours into: a queue that looks at what comes in, and
// knows when the first list has been handled.

package watchdog

import (
	"fmt"
	"reflect"
	"sync"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// inbox is the queue of chapter 01 with the two things that it lacks: HasSynced and
// isInInitialList.
type inbox struct {
	*deltafifo.Queue
	opts Options

	mu     sync.Mutex
	first  map[string]bool // keys of the first list that are not handled yet; nil before it
	synced chan struct{}   // closed when all of the first list is handled
}

// key names an object. What has no key or no name, or is of another type than
// was asked for, is refused with an error that says which object it is.
func (b *inbox) key(obj any) (string, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return gone.Key, nil
	}
	if reflect.TypeOf(obj) != reflect.TypeOf(b.opts.ObjectType) {
		return "", fmt.Errorf("%s is no %T: ListerWatcher and ObjectType do not fit together",
			name(obj), b.opts.ObjectType)
	}
	// No server sends such a thing, but something in between may; its key would
	// be "namespace/", under which nobody could ever delete it again.
	if o, ok := obj.(metav1.Object); ok && o.GetName() == "" {
		return "", fmt.Errorf("a %T in namespace %q has no name", obj, o.GetNamespace())
	}
	key, err := b.opts.KeyFunction(obj)
	if err != nil {
		return "", fmt.Errorf("there is no key for %s: %w", name(obj), err)
	}
	return key, nil
}

// name says, for a person, which object it is, whatever the key function says.
func name(obj any) string {
	key, err := cache.MetaNamespaceKeyFunc(obj)
	if err != nil {
		key = "without a name"
	}
	return fmt.Sprintf("%T %s", obj, key)
}

// Add, Update and Delete are for single events. One that is refused is reported
// here and dropped: all that the reflector would do with the error is to log it.
func (b *inbox) Add(obj any) error    { return b.put(obj, b.Queue.Add) }
func (b *inbox) Update(obj any) error { return b.put(obj, b.Queue.Update) }
func (b *inbox) Delete(obj any) error { return b.put(obj, b.Queue.Delete) }

func (b *inbox) put(obj any, queue func(any) error) error {
	if _, err := b.key(obj); err != nil {
		b.opts.OnError(fmt.Errorf("an event is dropped: %w", err))
		return nil
	}
	return queue(obj)
}

// Replace takes a list whole or not at all: from half a list, the queue would conclude
// that the other half is gone. The reflector reports the error, and lists again.
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
	b.mu.Unlock() // the queue has a lock of its own, and takes this one under it
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

// checkSynced runs when first was set or has shrunk; it empties only once.
// The caller holds mu.
func (b *inbox) checkSynced() {
	if len(b.first) == 0 {
		close(b.synced)
	}
}

// HasSynced is true once the handler has returned from all of the first list.
func (w *WatchDog) HasSynced() bool {
	select {
	case <-w.Synced():
		return true
	default:
		return false
	}
}

// Synced returns a channel that is closed when HasSynced becomes true.
func (w *WatchDog) Synced() <-chan struct{} { return w.inbox.synced }
