// What an informer is found by.

package factory

import (
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A key is what an informer is found by: its resource; or, for a type of the
// caller's own, the Go type. Two packages may have a Gateway each, so a type's
// name would not do.
type key struct {
	resource schema.GroupVersionResource

	goType reflect.Type            // nil if there is a resource
	kind   schema.GroupVersionKind // of a Go type that stands for any kind
}

// keyOf is the key of an object's informer: the resource if its Go type is one of
// client-go's, whatever its kind field says.
func keyOf(obj runtime.Object) key {
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return key{goType: reflect.TypeOf(obj), kind: obj.GetObjectKind().GroupVersionKind()}
	}
	found, _, err := clientGoScheme.ObjectKinds(obj)
	if err != nil {
		return key{goType: reflect.TypeOf(obj)}
	}
	resource, _ := meta.UnsafeGuessKindToResource(found[0])
	return key{resource: resource}
}

// objectType is the Go type of the informer's objects.
func (k key) objectType() reflect.Type {
	if k.goType != nil {
		return k.goType
	}
	if kind, ok := kinds()[k.resource]; ok {
		return reflect.PointerTo(clientGoScheme.AllKnownTypes()[kind])
	}
	return reflect.TypeFor[*unstructured.Unstructured]()
}

func (k key) String() string {
	switch {
	case k.goType == nil:
		return name(k.resource)
	case k.kind.Empty():
		return k.goType.String()
	}
	return k.goType.String() + " of " + k.kind.String()
}

// name is a resource as kubectl takes it: pods, deployments.v1.apps.
func name(resource schema.GroupVersionResource) string {
	if resource.Group == "" {
		return resource.Resource
	}
	return strings.Join([]string{resource.Resource, resource.Version, resource.Group}, ".")
}
