// What the usual demos call, and what is there today.

package main

import (
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/cache"
)

func TestWhatTheUsualDemosCallHasChanged(t *testing.T) {
	if got := reflect.TypeFor[cache.PopProcessFunc]().NumIn(); got != 2 {
		t.Errorf("the function that Pop calls takes %d parameters, want 2", got)
	}
	onAdd, _ := reflect.TypeFor[cache.ResourceEventHandler]().MethodByName("OnAdd")
	if got := onAdd.Type.NumIn(); got != 2 {
		t.Errorf("OnAdd takes %d parameters, want 2", got)
	}
	known := reflect.TypeFor[cache.KeyListerGetter]()
	for _, gone := range []string{"Get", "List"} {
		if _, ok := known.MethodByName(gone); ok {
			t.Errorf("known objects have a method %s", gone)
		}
	}
	if _, ok := reflect.TypeFor[cache.Config]().FieldByName("RetryOnError"); ok {
		t.Error("an informer can put back what its handler refuses, again")
	}
	informer := cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{}, &corev1.Pod{},
		cache.SharedIndexInformerOptions{})
	if _, ok := reflect.TypeOf(informer).MethodByName("HandleDeltas"); ok {
		t.Error("HandleDeltas is exported again")
	}
	list, _ := reflect.TypeFor[typedcorev1.ConfigMapInterface]().MethodByName("List")
	if list.Type.NumIn() != 2 {
		t.Error("a list takes no context")
	}
}
