// Claims of the book about old demos: the functions that they call have changed.

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
		t.Errorf("a PopProcessFunc has %d parameters, want 2", got)
	}
	onAdd, _ := reflect.TypeFor[cache.ResourceEventHandler]().MethodByName("OnAdd")
	if got := onAdd.Type.NumIn(); got != 2 {
		t.Errorf("OnAdd has %d parameters, want 2", got)
	}
	known := reflect.TypeFor[cache.KeyListerGetter]()
	for _, name := range []string{"Get", "List"} {
		_, exists := known.MethodByName(name)
		if exists {
			t.Errorf("KeyListerGetter has the method %s, want none of this name", name)
		}
	}
	_, exists := reflect.TypeFor[cache.Config]().FieldByName("RetryOnError")
	if exists {
		t.Error("cache.Config has the field RetryOnError again")
	}
	informer := cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{}, &corev1.Pod{},
		cache.SharedIndexInformerOptions{})
	_, exists = reflect.TypeOf(informer).MethodByName("HandleDeltas")
	if exists {
		t.Errorf("%T has the method HandleDeltas again", informer)
	}
	list, _ := reflect.TypeFor[typedcorev1.ConfigMapInterface]().MethodByName("List")
	if got := list.Type.NumIn(); got != 2 {
		t.Errorf("ConfigMapInterface.List has %d parameters, want 2: a context and options", got)
	}
}
