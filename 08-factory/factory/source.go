// How an informer lists and watches a resource: with the clientset if client-go has a Go type for
// the resource, otherwise with the dynamic client.

package factory

import (
	"cmp"
	"context"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/watchlist"
)

// A source has all that an informer needs to know about its resource.
type source struct {
	listerWatcher cache.ListerWatcher
	example       runtime.Object          // has the Go type of the objects
	kind          schema.GroupVersionKind // empty if the objects come from the server with their kind
}

// source returns the source of any resource.
func (f *Factory) source(resource schema.GroupVersionResource) (source, error) {
	kind, ok := kinds()[resource]
	if !ok {
		return f.untyped(resource)
	}
	list, watchFunc, ok := f.clientFor(resource)
	if !ok {
		return source{}, fmt.Errorf("an informer of %s: the clientset cannot list and watch them", name(resource))
	}
	example, err := clientGoScheme.New(kind)
	if err != nil {
		return source{}, fmt.Errorf("an informer of %s: %w", name(resource), err)
	}
	return source{listerWatcher: f.listWatch(f.client, list, watchFunc), example: example, kind: kind}, nil
}

// untyped returns the source of a resource that client-go has no Go type for.
func (f *Factory) untyped(resource schema.GroupVersionResource) (source, error) {
	if f.options.Dynamic == nil {
		return source{}, fmt.Errorf("an informer of %s: %w", name(resource), errNoDynamic)
	}
	client := f.options.Dynamic.Resource(resource).Namespace(f.options.Namespace)
	list := func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		return client.List(ctx, options)
	}
	return source{
		listerWatcher: f.listWatch(f.options.Dynamic, list, client.Watch),
		example:       &unstructured.Unstructured{},
	}, nil
}

// listWatch makes a ListerWatcher of two functions. It calls TweakListOptions before each of them.
// The client says whether the server can stream a list over a watch. A fake client cannot.
func (f *Factory) listWatch(client any, list cache.ListWithContextFunc,
	watchFunc cache.WatchFuncWithContext) cache.ListerWatcher {
	tweakListOptions := f.options.TweakListOptions
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

// wrap calls Options.Wrap. A wrapper may hide that the client cannot stream a list. Therefore the
// result says so again.
func (f *Factory) wrap(resource schema.GroupVersionResource, lw cache.ListerWatcher) cache.ListerWatcher {
	wrapped := f.options.Wrap(resource, lw)
	if !watchlist.DoesClientNotSupportWatchListSemantics(lw) {
		return wrapped
	}
	withContext := cache.ToListerWatcherWithContext(wrapped)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc:  withContext.ListWithContext,
		WatchFuncWithContext: withContext.WatchWithContext,
	}, lw)
}

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

// clientFor finds the functions with which the clientset lists and watches a resource, for example
// the methods List and Watch of CoreV1().Pods(namespace). client-go's factory has generated code
// for each resource. Here the methods are found by their names at run time. The names are regular,
// because client-go generates them: the clientset has one method for each version of a group, and
// its result has one method for each resource.
func (f *Factory) clientFor(resource schema.GroupVersionResource) (
	list cache.ListWithContextFunc, watchFunc cache.WatchFuncWithContext, ok bool,
) {
	// The method has the first part of the group's name, such as rbac of rbac.authorization.k8s.io.
	// No two groups of client-go have the same first part.
	group, _, _ := strings.Cut(resource.Group, ".")
	groupVersion := callMethod(reflect.ValueOf(f.client), cmp.Or(group, "core")+resource.Version)
	client := callMethod(groupVersion, resource.Resource, reflect.ValueOf(f.options.Namespace))
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
