// Where a resource's objects come from: through the clientset if client-go has
// a Go type for them, through the dynamic client if not.

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

// A source is what an informer is made from.
type source struct {
	listerWatcher cache.ListerWatcher
	example       runtime.Object
	kind          schema.GroupVersionKind // empty for objects that bring it with them
}

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
	return source{f.listWatch(f.client, list, watchFunc), example, kind}, nil
}

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

// listWatch puts TweakListOptions before both functions. The client says whether a
// list may be asked for as a stream: not of a fake one.
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

// wrap calls Wrap. If no list may be asked for as a stream, this stays so, whatever
// the wrapper hides.
func (f *Factory) wrap(resource schema.GroupVersionResource, lw cache.ListerWatcher) cache.ListerWatcher {
	wrapped := f.options.Wrap(resource, lw)
	if !watchlist.DoesClientNotSupportWatchListSemantics(lw) {
		return wrapped
	}
	with := cache.ToListerWatcherWithContext(wrapped)
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: with.ListWithContext, WatchFuncWithContext: with.WatchWithContext,
	}, lw)
}

// clientGoScheme has client-go's own types, and no others. The scheme that programs
// know, scheme.Scheme, is theirs too: what they register there has no method in
// the clientset.
var clientGoScheme = func() *runtime.Scheme {
	own := runtime.NewScheme()
	utilruntime.Must(scheme.AddToScheme(own))
	return own
}()

// kinds are the kinds of all resources that client-go has a Go type for. What a
// kind's resource is called is a guess, and a right one for all of these.
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

// clientFor finds how the clientset lists and watches a resource: the methods
// List and Watch of CoreV1().Pods(namespace), say. client-go's factory has generated
// code for each of them. Here their names are found at run time, and client-go's
// generator sees to it that they fit: one method for each version of a group, and there
// one for each resource.
func (f *Factory) clientFor(resource schema.GroupVersionResource) (
	list cache.ListWithContextFunc, watchFunc cache.WatchFuncWithContext, ok bool,
) {
	// rbac of rbac.authorization.k8s.io; no two groups of client-go begin alike
	group, _, _ := strings.Cut(resource.Group, ".")
	groupVersion := callMethod(reflect.ValueOf(f.client), cmp.Or(group, "core")+resource.Version)
	client := callMethod(groupVersion, resource.Resource, reflect.ValueOf(f.options.Namespace))
	if !client.IsValid() {
		return nil, nil, false
	}
	lister, watcher := client.MethodByName("List"), client.MethodByName("Watch")
	if !lister.IsValid() || !watcher.IsValid() { // a TokenReview, say: one can ask for it, but they cannot be listed
		return nil, nil, false
	}
	list = func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
		result := lister.Call([]reflect.Value{reflect.ValueOf(ctx), reflect.ValueOf(options)})
		err, _ := result[1].Interface().(error)
		return result[0].Interface().(runtime.Object), err
	}
	return list, watcher.Interface().(func(context.Context, metav1.ListOptions) (watch.Interface, error)), true
}

// callMethod calls a method by its name in any case: appsv1 is AppsV1. It leaves out
// arguments that the method does not take: Pods takes a namespace, Nodes does not. If
// there is no such method, the result is not valid.
func callMethod(of reflect.Value, name string, args ...reflect.Value) (result reflect.Value) {
	if !of.IsValid() {
		return result
	}
	for i := range of.NumMethod() {
		if method := of.Method(i); strings.EqualFold(of.Type().Method(i).Name, name) {
			return method.Call(args[:method.Type().NumIn()])[0]
		}
	}
	return result
}
