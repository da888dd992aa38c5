// The option Kinds: the Kind and APIVersion of objects.

package factory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// transform returns the transform for the objects of a kind: the option Transform, then the option
// Kinds. It is nil if neither is set.
func (o *Options) transform(kind schema.GroupVersionKind) cache.TransformFunc {
	transform := o.Transform
	if !o.Kinds || kind.Empty() {
		return transform
	}
	if transform == nil {
		return setKind(kind)
	}
	set := setKind(kind)
	return func(obj any) (any, error) {
		obj, err := transform(obj)
		if err != nil {
			return nil, err
		}
		return set(obj)
	}
}

// setKind returns a transform that writes the kind into objects. It makes the two strings once: all
// objects share them.
func setKind(kind schema.GroupVersionKind) cache.TransformFunc {
	apiVersion, kindName := kind.ToAPIVersionAndKind()
	return func(obj any) (any, error) {
		typed, ok := obj.(runtime.Object)
		if !ok {
			return obj, nil // the option Transform has made something else of the object
		}
		if typeMeta, ok := typed.GetObjectKind().(*metav1.TypeMeta); ok {
			typeMeta.APIVersion, typeMeta.Kind = apiVersion, kindName
		}
		return obj, nil
	}
}
