package factory

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// nowhere is a real clientset without a server.
func nowhere(t testing.TB) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	must.Do(t, err)
	return client
}

// types returns the Go types of a factory's informers. They are started for
// that, with a context that has ended.
func types(factory informers.SharedInformerFactory) []string {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	factory.StartWithContext(ended)
	factory.Shutdown()
	var names []string
	for goType := range factory.WaitForCacheSyncWithContext(ended).Synced {
		names = append(names, goType.Elem().PkgPath()+"."+goType.Elem().Name())
	}
	slices.Sort(names)
	return names
}

// askForAll calls every accessor of a factory, such as
// Core().V1().Pods().Informer(), whatever their names are.
func askForAll(factory informers.SharedInformerFactory) {
	for group := range results(reflect.ValueOf(factory)) {
		for version := range results(group) {
			for resource := range results(version) {
				if asked, ok := resource.Interface().(interface {
					Informer() cache.SharedIndexInformer
				}); ok {
					asked.Informer()
				}
			}
		}
	}
}

// results are those of all methods of a value that take nothing and return
// one interface of client-go's informers.
func results(of reflect.Value) func(yield func(reflect.Value) bool) {
	return func(yield func(reflect.Value) bool) {
		for i := range of.NumMethod() {
			method := of.Method(i)
			if method.Type().NumIn() != 0 || method.Type().NumOut() != 1 ||
				!strings.HasPrefix(method.Type().Out(0).PkgPath(), "k8s.io/client-go/informers/") {
				continue
			}
			if !yield(method.Call(nil)[0]) {
				return
			}
		}
	}
}

func TestEveryTypeOfClientGosFactoryIsKnown(t *testing.T) {
	theirs := informers.NewSharedInformerFactory(nowhere(t), 0)
	ours := New(nowhere(t), Options{}).ClientGo()
	askForAll(theirs)
	askForAll(ours)
	want, got := types(theirs), types(ours)
	expect.That(t, slices.Equal(got, want), "got  %q\nwant %q", got, want)
	expect.That(t, len(want) >= 100, "only %d types: the test does not find them", len(want))
}

func TestForResourceKnowsWhatClientGosKnows(t *testing.T) {
	client := nowhere(t)
	known := 0
	for resource := range kinds() {
		theirs := informers.NewSharedInformerFactory(client, 0)
		asked, err := theirs.ForResource(resource)
		if err != nil {
			continue // a part of others, or a question: a Scale, a TokenReview
		}
		asked.Informer()
		known++
		f := New(client, Options{})
		got, err := f.ForResource(resource)
		if err != nil {
			t.Error(err)
			continue
		}
		_, ok := got.Informer().(*informer.Informer)
		expect.That(t, ok, "%s: the informer is a %T", name(resource), got.Informer())
		mine, want := types(f.ClientGo()), types(theirs)
		expect.That(t, slices.Equal(mine, want), "%s: type %q, client-go's %q", name(resource), mine, want)
	}
	all := informers.NewSharedInformerFactory(client, 0)
	askForAll(all)
	want := len(types(all))
	expect.That(t, known == want, "client-go knows %d of the resources, and %d types", known, want)
}

// What a server calls its resources is what kinds guesses.
func TestResourcesAreCalledAsTheServerCallsThem(t *testing.T) {
	client := discovery.ToDiscoveryInterfaceWithContext(sessiontest.Open(t).Client.Discovery())
	_, lists, err := client.ServerGroupsAndResourcesWithContext(t.Context())
	must.Do(t, err)
	checked := 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		must.Do(t, err)
		for _, r := range list.APIResources {
			kind := version.WithKind(r.Kind)
			if strings.Contains(r.Name, "/") || !scheme.Scheme.Recognizes(kind) {
				continue
			}
			checked++
			got := kinds()[version.WithResource(r.Name)]
			expect.That(t, got == kind, "%s: got kind %q, want %q", r.Name, got, kind)
		}
	}
	expect.That(t, checked >= 50, "only %d resources: the test does not find them", checked)
}

func TestForResourceIsRefusedWithoutADynamicClient(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	f := New(nowhere(t), Options{})
	_, err := f.ForResource(widgets)
	want := "an informer of widgets.v1.example.com: client-go has no type for it, and the factory no dynamic " +
		"client: set Options.Dynamic"
	expect.That(t, err != nil && err.Error() == want, "got  %v\nwant %s", err, want)
	asked, err := f.ClientGo().ForResource(widgets)
	expect.That(t, asked == nil && err != nil, "got %v, %v; want nil and an error", asked, err)
	expect.That(t, len(f.entries) == 0, "what was refused is kept: %v", slices.Collect(maps.Keys(f.entries)))
}

// A program's own types are for the dynamic client, whether they are registered
// in scheme.Scheme, or when, and whatever their group begins with.
func TestTypesOfTheProgramsOwn(t *testing.T) {
	for _, test := range []struct {
		resource schema.GroupVersionResource
		kind     string
	}{
		{schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"}, "Gizmo"},
		{schema.GroupVersionResource{Group: "apps.kruise.io", Version: "v1beta1", Resource: "statefulsets"},
			"StatefulSet"},
	} {
		t.Run(name(test.resource), func(t *testing.T) {
			version := test.resource.GroupVersion()
			scheme.Scheme.AddKnownTypeWithName(version.WithKind(test.kind), &gadget{})
			own := &unstructured.Unstructured{}
			own.SetGroupVersionKind(version.WithKind(test.kind))
			own.SetNamespace("ns")
			own.SetName("own")
			path := "/apis/" + version.String() + "/" + test.resource.Resource
			server, client, dyn := newServer(t, map[string]iter.Seq[any]{path: slices.Values([]any{own})})
			f := New(client, Options{Dynamic: dyn})
			asked, err := f.ForResource(test.resource)
			must.Do(t, err)
			start(t, f)
			if paths := server.paths(); !slices.Equal(paths, []string{path + " "}) {
				t.Errorf("the server was asked for %q, want %q", paths, path)
			}
			obj, err := asked.Lister().ByNamespace("ns").Get("own")
			must.Do(t, err)
			kind := obj.(*unstructured.Unstructured).GetKind()
			expect.That(t, kind == test.kind, "a %s is cached", kind)
		})
	}
}
