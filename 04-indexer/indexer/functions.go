// Index functions: by namespace, by label and by container image.
//
// A store panics when an index function fails. So these functions fail only for a value that is no
// Kubernetes object, and for a pod that no server could have sent. An object without a namespace,
// label or image has no values: it is in the store, and not in the index. A tombstone has the
// values of the object in it.

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

// Names for indexes. The first name must be this one, because client-go's listers look for an index
// of this name. For the other index, any name is possible.
const (
	Namespace = cache.NamespaceIndex
	Image     = "image"
)

// These functions are index functions for any store.
var _, _ cache.IndexFunc = ByNamespace, ByImage

// ByNamespace returns the namespace of the object. A cluster-wide object has none.
func ByNamespace(obj any) ([]string, error) {
	object, err := unwrap(obj)
	if err != nil {
		return nil, err
	}
	return values(object.GetNamespace()), nil
}

// ByLabel returns a function that returns the value of a label of the object. An empty
// label is a value. A missing label is not a value.
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

// ByImage returns the images of all containers in the spec of a pod, including its init containers
// and ephemeral containers.
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

// values returns the strings that are not empty, sorted and without duplicates.
func values(all ...string) []string {
	all = slices.DeleteFunc(all, func(value string) bool { return value == "" })
	slices.Sort(all)
	return slices.Compact(all)
}

// unwrap returns obj as a Kubernetes object. If obj is a tombstone, it returns the object in the
// tombstone.
func unwrap(obj any) (metav1.Object, error) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		if tombstone.Obj == nil {
			return nil, fmt.Errorf("the tombstone of %q holds no object", tombstone.Key)
		}
		obj = tombstone.Obj
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

// podSpec returns the spec of a typed or unstructured pod. For any other object it returns an empty
// spec. The caller must not change the spec.
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

// untypedSpec returns the spec of an unstructured pod. For any other object it returns an empty
// spec.
func untypedSpec(obj *unstructured.Unstructured) (*corev1.PodSpec, error) {
	var pod struct { // the part of a pod that has to be converted
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
