// Package record is for tests of informers. It has a recorder of handler calls, a checker that
// compares the calls and the cache with the objects on the server, a writer that changes objects at
// random, and a runner of informers side by side.
package record

import (
	"context"
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

// An Object is an object of the server, at one version.
type Object interface {
	metav1.Object
	runtime.Object
}

// version identifies an object at one version, as UID@resourceVersion. An object that was deleted
// and created again under the same name has another UID.
func version(o Object) string { return string(o.GetUID()) + "@" + o.GetResourceVersion() }

// Versions returns the versions of objects by their keys.
func Versions(objects []Object) map[string]string {
	versions := make(map[string]string, len(objects))
	for _, o := range objects {
		versions[cache.MetaObjectToName(o).String()] = version(o)
	}
	return versions
}

// List asks the server for the objects of a resource of the core API.
func List(
	ctx context.Context, client rest.Interface, resource, namespace string, selector fields.Selector,
) ([]Object, error) {
	lw := cache.NewListWatchFromClient(client, resource, namespace, selector)
	list, err := lw.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("listing %s: %w", resource, err)
	}
	var objects []Object
	err = meta.EachListItem(list, func(item runtime.Object) error {
		objects = append(objects, item.(Object))
		return nil
	})
	return objects, err
}

// A Lister is a store that can list its objects.
type Lister interface{ List() []any }

// Cached returns the objects in a store, or an error if an item is not an object.
func Cached(store Lister) ([]Object, error) {
	var objects []Object
	for _, item := range store.List() {
		o, ok := item.(Object)
		if !ok {
			return nil, fmt.Errorf("the store holds a %T", item)
		}
		objects = append(objects, o)
	}
	return objects, nil
}

// UpToDate reports whether a store holds the same versions as the server.
func UpToDate(store Lister, server map[string]string) bool {
	objects, err := Cached(store)
	return err == nil && maps.Equal(Versions(objects), server)
}
