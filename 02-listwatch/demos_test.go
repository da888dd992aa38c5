// What the usual demos call, and what is there today.

package main

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
)

func TestWhatTheUsualDemosCallHasChanged(t *testing.T) {
	got := reflect.TypeFor[cache.PopProcessFunc]().NumIn()
	expect.That(t, got == 2, "the function that Pop calls takes %d parameters, want 2", got)
	onAdd, _ := reflect.TypeFor[cache.ResourceEventHandler]().MethodByName("OnAdd")
	got = onAdd.Type.NumIn()
	expect.That(t, got == 2, "OnAdd takes %d parameters, want 2", got)
	known := reflect.TypeFor[cache.KeyListerGetter]()
	for _, gone := range []string{"Get", "List"} {
		_, ok := known.MethodByName(gone)
		expect.That(t, !ok, "known objects have a method %s", gone)
	}
	_, ok := reflect.TypeFor[cache.Config]().FieldByName("RetryOnError")
	expect.That(t, !ok, "an informer can put back what its handler refuses, again")
	informer := cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{}, &corev1.Pod{},
		cache.SharedIndexInformerOptions{})
	_, ok = reflect.TypeOf(informer).MethodByName("HandleDeltas")
	expect.That(t, !ok, "HandleDeltas is exported again")
	list, _ := reflect.TypeFor[typedcorev1.ConfigMapInterface]().MethodByName("List")
	expect.That(t, list.Type.NumIn() == 2, "a list takes no context")
}
