// Giving objects back their Kind and APIVersion.

package factory

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// transform is what the options ask to be done to every object of a kind; nil
// if there is nothing to do.
func (f *Factory) transform(kind schema.GroupVersionKind) cache.TransformFunc {
	transform := f.options.Transform
	if !f.options.Kinds || kind.Empty() {
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

// setKind returns a function that writes the kind into objects. Its two strings
// are made once. All objects point to the same strings.
func setKind(kind schema.GroupVersionKind) cache.TransformFunc {
	version, name := kind.ToAPIVersionAndKind()
	return func(obj any) (any, error) {
		typed, ok := obj.(runtime.Object)
		if !ok {
			return obj, nil // the caller's transform has made something else of it
		}
		if meta, ok := typed.GetObjectKind().(*metav1.TypeMeta); ok {
			meta.APIVersion, meta.Kind = version, name
		}
		return obj, nil
	}
}
