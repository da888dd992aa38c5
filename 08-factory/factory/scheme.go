// The types of client-go, and their resources.

package factory

import (
	"reflect"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// clientGoScheme has the types of client-go, and no others. scheme.Scheme is not used, because
// programs register their own types there, and the clientset has no methods for those.
var clientGoScheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(s))
	return s
}()

// kinds has the kinds of all resources that client-go has a Go type for. The name of a kind's
// resource is a guess. A test compares these names with those of a server.
var kinds = sync.OnceValue(func() map[schema.GroupVersionResource]schema.GroupVersionKind {
	found := map[schema.GroupVersionResource]schema.GroupVersionKind{}
	for kind, goType := range clientGoScheme.AllKnownTypes() {
		if reflect.PointerTo(goType).Implements(reflect.TypeFor[metav1.Object]()) {
			resource, _ := meta.UnsafeGuessKindToResource(kind)
			found[resource] = kind
		}
	}
	return found
})
