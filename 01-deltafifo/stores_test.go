// What else of package cache is a Store or a Queue, and what an object is.

package main

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

func TestWhatIsAStoreAndWhatIsAQueue(t *testing.T) {
	byValue := func(a, b any) bool { return a.(pod).Value < b.(pod).Value }
	for _, c := range []struct {
		obj                     any
		store, queue, reflector bool
	}{
		{obj: cache.NewStore(podKey), store: true, reflector: true},
		{obj: cache.NewTTLStore(podKey, time.Minute), store: true, reflector: true},
		{obj: cache.NewUndeltaStore(func([]any) {}, podKey), store: true, reflector: true},
		{obj: cache.NewFIFO(podKey), queue: true, reflector: true},
		{obj: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}), queue: true, reflector: true},
		{obj: newRealFIFO(knownPods{}), queue: true, reflector: true},
		{obj: cache.NewHeap(podKey, byValue)},
	} {
		_, store := c.obj.(cache.Store)
		_, queue := c.obj.(cache.Queue)
		_, reflector := c.obj.(cache.ReflectorStore)
		expect.That(t, store == c.store && queue == c.queue && reflector == c.reflector,
			"%T is a Store: %t, a Queue: %t, a ReflectorStore: %t", c.obj, store, queue, reflector)
	}
}

func TestATTLStoreForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewTTLStore(podKey, time.Minute)
		must.Do(t, store.Add(pod1))
		time.Sleep(59 * time.Second)
		got := len(store.List())
		expect.That(t, got == 1, "after 59 s it has %d objects, want 1", got)
		time.Sleep(2 * time.Second)
		got = len(store.List())
		expect.That(t, got == 0, "after 61 s it has %d objects, want none", got)
	})
}

func TestAnUndeltaStorePushesAllItHas(t *testing.T) {
	var pushed []int
	store := cache.NewUndeltaStore(func(all []any) { pushed = append(pushed, len(all)) }, podKey)
	must.Do(t, errors.Join(store.Add(pod1), store.Add(pod2), store.Delete(pod1)))
	want := []int{1, 2, 1}
	expect.That(t, slices.Equal(pushed, want), "it pushed lists of %v objects, want %v", pushed, want)
}

func TestAFIFOKeepsTheNewestStateOnly(t *testing.T) {
	queue := cache.NewFIFO(podKey)
	must.Do(t, errors.Join(queue.Add(pod1), queue.Add(pod2), queue.Update(pod{"pod1", 1.1}), queue.Delete(pod2)))
	queue.Close()
	var popped []any
	for err := error(nil); err == nil; {
		_, err = queue.Pop(func(obj any, _ bool) error { popped = append(popped, obj); return nil })
	}
	want := []any{pod{"pod1", 1.1}}
	expect.That(t, slices.Equal(popped, want), "popped %v, want %v", popped, want)
}

func TestAHeapPopsTheSmallest(t *testing.T) {
	heap := cache.NewHeap(podKey, func(a, b any) bool { return a.(pod).Value < b.(pod).Value })
	must.Do(t, errors.Join(heap.Add(pod3), heap.Add(pod1), heap.Add(pod2)))
	got, err := heap.Pop()
	expect.That(t, err == nil && got == any(pod1), "Pop() = %v, %v; want pod1", got, err)
}

// A list of pods is a runtime.Object, too; but it has no name.
func TestAnObjectAndAnObjectWithAName(t *testing.T) {
	object, named := reflect.TypeFor[runtime.Object](), reflect.TypeFor[metav1.Object]()
	for _, c := range []struct {
		obj           any
		object, named bool
	}{
		{&corev1.Pod{}, true, true},
		{&corev1.PodList{}, true, false},
		{corev1.Pod{}, false, false}, // the methods are those of the pointer
		{pod1, false, false},
	} {
		of := reflect.TypeOf(c.obj)
		expect.That(t, of.Implements(object) == c.object && of.Implements(named) == c.named,
			"%v is a runtime.Object: %t, a metav1.Object: %t", of, of.Implements(object), of.Implements(named))
		_, err := cache.MetaNamespaceKeyFunc(c.obj)
		expect.That(t, (err == nil) == c.named, "%v: the key function returns %v", of, err)
	}
}
