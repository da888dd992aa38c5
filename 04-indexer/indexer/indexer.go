// Package indexer has index functions for client-go's stores: by namespace, by
// a label and by container image.
//
// A store panics when an index function fails, so these fail only for what is
// no Kubernetes object, or for a pod that no server could have sent. An object
// that lacks the thing has no values: it is in the store, and not in that index.
// A tombstone has the values of the object that it holds.
package indexer

import (
	"fmt"
	"reflect"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// Names for the indexes. Any other name does as well, except for the first:
// client-go's listers look for an index that is called so.
const (
	Namespace = cache.NamespaceIndex
	Image     = "image"
)

// These may be handed to any store.
var _, _ cache.IndexFunc = ByNamespace, ByImage

// ByNamespace gives the object's namespace. What is cluster-wide has none.
func ByNamespace(obj any) ([]string, error) {
	object, err := unwrap(obj)
	if err != nil {
		return nil, err
	}
	return values(object.GetNamespace()), nil
}

// ByLabel returns a function that gives the value of the object's label. A
// label that is there and empty is a value; a missing label is not.
func ByLabel(name string) cache.IndexFunc {
	return func(obj any) ([]string, error) {
		object, err := unwrap(obj)
		if err != nil {
			return nil, err
		}
		value, ok := object.GetLabels()[name]
		if !ok {
			return nil, nil
		}
		return []string{value}, nil
	}
}

// ByImage gives the images of all of a pod's containers, init and ephemeral
// ones too, as they are written in its spec.
func ByImage(obj any) ([]string, error) {
	spec, err := podSpec(obj)
	if err != nil {
		return nil, err
	}
	var images []string
	for _, c := range spec.InitContainers {
		images = append(images, c.Image)
	}
	for _, c := range spec.Containers {
		images = append(images, c.Image)
	}
	for _, c := range spec.EphemeralContainers {
		images = append(images, c.Image)
	}
	return values(images...), nil
}

// values returns what there is, each value once, in order.
func values(all ...string) []string {
	all = slices.DeleteFunc(all, func(value string) bool { return value == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// unwrap returns the Kubernetes object that obj is, or that it is the tombstone of.
func unwrap(obj any) (metav1.Object, error) {
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		if gone.Obj == nil {
			return nil, fmt.Errorf("the tombstone of %q holds no object", gone.Key)
		}
		obj = gone.Obj
	}
	if v := reflect.ValueOf(obj); v.Kind() == reflect.Pointer && v.IsNil() {
		return nil, fmt.Errorf("want a Kubernetes object, got a nil %T", obj)
	}
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, fmt.Errorf("want a Kubernetes object, got %T", obj)
	}
	return object, nil
}

// podSpec returns the spec of a pod, typed or not; that of anything else is
// empty. It must not be changed.
func podSpec(obj any) (*corev1.PodSpec, error) {
	object, err := unwrap(obj)
	if err != nil {
		return nil, err
	}
	switch o := object.(type) {
	case *corev1.Pod:
		return &o.Spec, nil
	case *unstructured.Unstructured:
		return untypedSpec(o)
	}
	return &corev1.PodSpec{}, nil
}

func untypedSpec(obj *unstructured.Unstructured) (*corev1.PodSpec, error) {
	var pod struct { // all of a pod that has to be converted
		Spec corev1.PodSpec `json:"spec"`
	}
	if obj.GroupVersionKind() != corev1.SchemeGroupVersion.WithKind("Pod") {
		return &pod.Spec, nil
	}
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(obj.Object, &pod); err != nil {
		return nil, fmt.Errorf("reading the spec of pod %s/%s: %w", obj.GetNamespace(), obj.GetName(), err)
	}
	return &pod.Spec, nil
}
