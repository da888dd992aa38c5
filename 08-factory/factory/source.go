// How an informer lists and watches a resource: with the clientset if client-go has a Go type for
// the resource, otherwise with the dynamic client.

package factory

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
)

// A source has all that an informer needs to know about its resource.
type source struct {
	listerWatcher cache.ListerWatcher
	example       runtime.Object          // has the Go type of the objects
	kind          schema.GroupVersionKind // empty if the objects come from the server with their kind
}

// newSource returns the source of any resource.
func newSource(client kubernetes.Interface, options *Options, resource schema.GroupVersionResource) (source, error) {
	kind, ok := kinds()[resource]
	if !ok {
		return newUntypedSource(options, resource)
	}
	list, watchFunc, ok := clientFor(client, options.Namespace, resource)
	if !ok {
		return source{}, fmt.Errorf("an informer of %s: the clientset cannot list and watch them", name(resource))
	}
	example, err := clientGoScheme.New(kind)
	if err != nil {
		return source{}, fmt.Errorf("an informer of %s: %w", name(resource), err)
	}
	return source{
		listerWatcher: listWatch(client, options.TweakListOptions, list, watchFunc),
		example:       example,
		kind:          kind,
	}, nil
}

var errNoDynamic = errors.New(
	"client-go has no type for it, and the factory no dynamic client: set Options.Dynamic")

// newUntypedSource returns the source of a resource that client-go has no Go type for.
func newUntypedSource(options *Options, resource schema.GroupVersionResource) (source, error) {
	if options.Dynamic == nil {
		return source{}, fmt.Errorf("an informer of %s: %w", name(resource), errNoDynamic)
	}
	client := options.Dynamic.Resource(resource).Namespace(options.Namespace)
	list := func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return client.List(ctx, o) }
	return source{
		listerWatcher: listWatch(options.Dynamic, options.TweakListOptions, list, client.Watch),
		example:       &unstructured.Unstructured{},
	}, nil
}

// listWatch makes a ListerWatcher of two functions. It calls tweakListOptions, if set, before each
// of them. The client says whether the server can stream a list over a watch. A fake client cannot.
func listWatch(client any, tweakListOptions func(*metav1.ListOptions), list cache.ListWithContextFunc,
	watchFunc cache.WatchFuncWithContext) cache.ListerWatcher {
	if tweakListOptions == nil {
		tweakListOptions = func(*metav1.ListOptions) {}
	}
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			tweakListOptions(&options)
			return list(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			tweakListOptions(&options)
			return watchFunc(ctx, options)
		},
	}, client)
}

// clientFor finds the functions with which the clientset lists and watches a resource, for example
// the methods List and Watch of CoreV1().Pods(namespace). client-go's factory has generated code
// for each resource. Here the methods are found by their names at run time. The names are regular,
// because client-go generates them: the clientset has one method for each version of a group, and
// its result has one method for each resource.
func clientFor(clientset kubernetes.Interface, namespace string, resource schema.GroupVersionResource) (
	list cache.ListWithContextFunc, watchFunc cache.WatchFuncWithContext, ok bool,
) {
	// The method has the first part of the group's name, such as rbac of rbac.authorization.k8s.io.
	// No two groups of client-go have the same first part.
	groupName, _, _ := strings.Cut(resource.Group, ".")
	groupVersion := callMethod(reflect.ValueOf(clientset), cmp.Or(groupName, "core")+resource.Version)
	client := callMethod(groupVersion, resource.Resource, reflect.ValueOf(namespace))
	if !client.IsValid() {
		return nil, nil, false
	}
	lister, watcher := client.MethodByName("List"), client.MethodByName("Watch")
	if !lister.IsValid() || !watcher.IsValid() { // for example TokenReview: it can be created, but not listed
		return nil, nil, false
	}
	list = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		result := lister.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(options)})
		err, _ := result[1].Interface().(error)
		return result[0].Interface().(runtime.Object), err
	}
	return list, watcher.Interface().(func(context.Context, metav1.ListOptions) (watch.Interface, error)), true
}

// callMethod calls a method by its name, without regard to upper and lower case: appsv1 is AppsV1.
// It leaves out arguments that the method does not take: Pods takes a namespace, Nodes does not. If
// there is no such method, the result is not valid.
func callMethod(receiver reflect.Value, name string, args ...reflect.Value) reflect.Value {
	if !receiver.IsValid() {
		return reflect.Value{}
	}
	for i := range receiver.NumMethod() {
		if strings.EqualFold(receiver.Type().Method(i).Name, name) {
			method := receiver.Method(i)
			return method.Call(args[:method.Type().NumIn()])[0]
		}
	}
	return reflect.Value{}
}
