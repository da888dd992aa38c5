// The keys under which a factory keeps its informers.

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

// A key identifies an informer of a factory. For client-go's types it is the resource. For a type
// of the program it is the Go type, not the type's name: two packages may each have a type Gateway.
type key struct {
	resource schema.GroupVersionResource

	goType reflect.Type            // nil if there is a resource
	kind   schema.GroupVersionKind // set if the Go type stands for objects of any kind
}

// keyOf returns the key of an object's informer. If the Go type is one of client-go's, the object's
// kind field does not matter.
func keyOf(obj runtime.Object) key {
	switch obj.(type) {
	case runtime.Unstructured, *metav1.PartialObjectMetadata:
		return key{goType: reflect.TypeOf(obj), kind: obj.GetObjectKind().GroupVersionKind()}
	}
	objectKinds, _, err := clientGoScheme.ObjectKinds(obj)
	if err != nil {
		return key{goType: reflect.TypeOf(obj)}
	}
	resource, _ := meta.UnsafeGuessKindToResource(objectKinds[0])
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

// String returns the name of the key's type for error messages.
func (k key) String() string {
	switch {
	case k.goType == nil:
		return name(k.resource)
	case k.kind.Empty():
		return k.goType.String()
	default:
		return k.goType.String() + " of " + k.kind.String()
	}
}

// name returns the name by which kubectl knows a resource, such as pods or deployments.v1.apps.
func name(resource schema.GroupVersionResource) string {
	if resource.Group == "" {
		return resource.Resource
	}
	return strings.Join([]string{resource.Resource, resource.Version, resource.Group}, ".")
}
