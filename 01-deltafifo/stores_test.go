// Claims of the book about the other stores and queues of package cache, and about what a
// Kubernetes object is.

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

	"example.com/informer/scripts/harness/must"
)

func TestWhatIsAStoreAndWhatIsAQueue(t *testing.T) {
	byValue := func(a, b any) bool { return a.(pod).Value < b.(pod).Value }
	for _, test := range []struct {
		obj                                any
		isStore, isQueue, isReflectorStore bool
	}{
		{obj: cache.NewStore(podKey), isStore: true, isReflectorStore: true},
		{obj: cache.NewTTLStore(podKey, time.Minute), isStore: true, isReflectorStore: true},
		{obj: cache.NewUndeltaStore(func([]any) {}, podKey), isStore: true, isReflectorStore: true},
		{obj: cache.NewFIFO(podKey), isQueue: true, isReflectorStore: true},
		{obj: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}), isQueue: true, isReflectorStore: true},
		{obj: newRealFIFO(knownPods{}), isQueue: true, isReflectorStore: true},
		{obj: cache.NewHeap(podKey, byValue)},
	} {
		_, isStore := test.obj.(cache.Store)
		if isStore != test.isStore {
			t.Errorf("%T is a Store: %t, want %t", test.obj, isStore, test.isStore)
		}
		_, isQueue := test.obj.(cache.Queue)
		if isQueue != test.isQueue {
			t.Errorf("%T is a Queue: %t, want %t", test.obj, isQueue, test.isQueue)
		}
		_, isReflectorStore := test.obj.(cache.ReflectorStore)
		if isReflectorStore != test.isReflectorStore {
			t.Errorf("%T is a ReflectorStore: %t, want %t", test.obj, isReflectorStore, test.isReflectorStore)
		}
	}
}

func TestAKeyIsEnoughToGetAndToDelete(t *testing.T) {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	pod := realPod("pod1", "1")
	must.NoError(t, store.Add(pod))
	found, _, err := store.Get(cache.ExplicitKey("ns1/pod1"))
	if found != any(pod) || err != nil {
		t.Errorf("Get() = %v, %v; want pod1, nil", found, err)
	}
	must.NoError(t, store.Delete(cache.ExplicitKey("ns1/pod1")))
	if keys := store.ListKeys(); len(keys) != 0 {
		t.Errorf("keys after Delete: %q, want none", keys)
	}
}

func TestATTLStoreForgets(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := cache.NewTTLStore(podKey, time.Minute)
		must.NoError(t, store.Add(pod1))
		time.Sleep(59 * time.Second)
		if got := len(store.List()); got != 1 {
			t.Errorf("after 59 s: len(List()) = %d, want 1", got)
		}
		time.Sleep(2 * time.Second)
		if got := len(store.List()); got != 0 {
			t.Errorf("after 61 s: len(List()) = %d, want 0", got)
		}
	})
}

func TestAnUndeltaStorePushesAllItHas(t *testing.T) {
	var pushed []int
	store := cache.NewUndeltaStore(func(all []any) { pushed = append(pushed, len(all)) }, podKey)
	must.NoError(t, store.Add(pod1))
	must.NoError(t, store.Add(pod2))
	must.NoError(t, store.Delete(pod1))
	want := []int{1, 2, 1}
	if !slices.Equal(pushed, want) {
		t.Errorf("lengths of the pushed lists: %v, want %v", pushed, want)
	}
}

func TestAFIFOKeepsTheNewestStateOnly(t *testing.T) {
	queue := cache.NewFIFO(podKey)
	must.NoError(t, queue.Add(pod1))
	must.NoError(t, queue.Add(pod2))
	must.NoError(t, queue.Update(pod{"pod1", 1.1}))
	must.NoError(t, queue.Delete(pod2))
	queue.Close()
	var popped []any
	for {
		_, err := queue.Pop(func(obj any, _ bool) error {
			popped = append(popped, obj)
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			break
		}
		must.NoError(t, err)
	}
	want := []any{pod{"pod1", 1.1}}
	if !slices.Equal(popped, want) {
		t.Errorf("popped %v, want %v", popped, want)
	}
}

func TestAHeapPopsTheSmallest(t *testing.T) {
	heap := cache.NewHeap(podKey, func(a, b any) bool { return a.(pod).Value < b.(pod).Value })
	must.NoError(t, heap.Add(pod3))
	must.NoError(t, heap.Add(pod1))
	must.NoError(t, heap.Add(pod2))
	got, err := heap.Pop()
	if err != nil || got != any(pod1) {
		t.Errorf("Pop() = %v, %v; want %v, nil", got, err, pod1)
	}
}

// A list of pods is a runtime.Object, too. But it has no name.
func TestAnObjectAndAnObjectWithAName(t *testing.T) {
	runtimeObject, metav1Object := reflect.TypeFor[runtime.Object](), reflect.TypeFor[metav1.Object]()
	for _, test := range []struct {
		obj             any
		isRuntimeObject bool
		isMetav1Object  bool // and so has a key
	}{
		{obj: &corev1.Pod{}, isRuntimeObject: true, isMetav1Object: true},
		{obj: &corev1.PodList{}, isRuntimeObject: true},
		{obj: corev1.Pod{}}, // the methods are those of the pointer
		{obj: pod1},
	} {
		objType := reflect.TypeOf(test.obj)
		if got := objType.Implements(runtimeObject); got != test.isRuntimeObject {
			t.Errorf("%v is a runtime.Object: %t, want %t", objType, got, test.isRuntimeObject)
		}
		if got := objType.Implements(metav1Object); got != test.isMetav1Object {
			t.Errorf("%v is a metav1.Object: %t, want %t", objType, got, test.isMetav1Object)
		}
		_, err := cache.MetaNamespaceKeyFunc(test.obj)
		if hasKey := err == nil; hasKey != test.isMetav1Object {
			t.Errorf("%v: MetaNamespaceKeyFunc returns the error %v; want a key: %t", objType, err, test.isMetav1Object)
		}
	}
}
