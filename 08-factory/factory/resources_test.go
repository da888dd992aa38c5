package factory

import (
	"context"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// newClientWithoutServer returns a real clientset. Its server does not exist.
func newClientWithoutServer(t testing.TB) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	must.NoError(t, err)
	return client
}

// types returns the names of the Go types of a factory's informers. A factory returns the types of
// informers that it has started. Therefore types starts them, with a context that has ended.
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

// askForAll calls every accessor of a factory, such as Core().V1().Pods().Informer(), whatever
// their names are.
func askForAll(factory informers.SharedInformerFactory) {
	for group := range results(reflect.ValueOf(factory)) {
		for version := range results(group) {
			for resource := range results(version) {
				accessor, ok := resource.Interface().(interface {
					Informer() cache.SharedIndexInformer
				})
				if ok {
					accessor.Informer()
				}
			}
		}
	}
}

// results calls all accessors of a value, and returns their results.
func results(receiver reflect.Value) iter.Seq[reflect.Value] {
	return func(yield func(reflect.Value) bool) {
		for i := range receiver.NumMethod() {
			method := receiver.Method(i)
			if isAccessor(method.Type()) && !yield(method.Call(nil)[0]) {
				return
			}
		}
	}
}

// isAccessor is true for a method that takes nothing and returns one interface of client-go's
// informers.
func isAccessor(method reflect.Type) bool {
	return method.NumIn() == 0 && method.NumOut() == 1 &&
		strings.HasPrefix(method.Out(0).PkgPath(), "k8s.io/client-go/informers/")
}

func TestEveryTypeOfClientGosFactoryIsKnown(t *testing.T) {
	theirs := informers.NewSharedInformerFactory(newClientWithoutServer(t), 0)
	ours := New(newClientWithoutServer(t), Options{}).ClientGo()
	askForAll(theirs)
	askForAll(ours)
	want, got := types(theirs), types(ours)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the types of our factory differ from those of client-go's (-want +got):\n%s", diff)
	}
	if len(want) != 147 { // as docs/08-factory.md says
		t.Errorf("client-go's factory has %d types, want 147", len(want))
	}
}

func TestForResourceKnowsWhatClientGosKnows(t *testing.T) {
	client := newClientWithoutServer(t)
	known := 0
	for resource := range kinds() {
		theirs := informers.NewSharedInformerFactory(client, 0)
		want, err := theirs.ForResource(resource)
		if err != nil {
			continue // for example Scale, a subresource, and TokenReview, which can only be created
		}
		want.Informer() // only now the factory has an informer
		known++
		f := New(client, Options{})
		got, err := f.ForResource(resource)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, ok := got.Informer().(*informer.Informer); !ok {
			t.Errorf("ForResource(%s): the informer is a %T, want *informer.Informer", name(resource), got.Informer())
		}
		if gotTypes, wantTypes := types(f.ClientGo()), types(theirs); !slices.Equal(gotTypes, wantTypes) {
			t.Errorf("ForResource(%s): the type is %q, want %q as in client-go", name(resource), gotTypes, wantTypes)
		}
	}
	all := informers.NewSharedInformerFactory(client, 0)
	askForAll(all)
	if want := len(types(all)); known != want {
		t.Errorf("client-go's ForResource knows %d resources of kinds(), want all %d types of its factory", known, want)
	}
}

// The names of resources that kinds guesses are those of a server.
func TestResourcesAreCalledAsTheServerCallsThem(t *testing.T) {
	client := discovery.ToDiscoveryInterfaceWithContext(sessiontest.Open(t).Client.Discovery())
	_, lists, err := client.ServerGroupsAndResourcesWithContext(t.Context())
	must.NoError(t, err)
	checked := 0
	for _, list := range lists {
		version, err := schema.ParseGroupVersion(list.GroupVersion)
		must.NoError(t, err)
		for _, r := range list.APIResources {
			kind := version.WithKind(r.Kind)
			if strings.Contains(r.Name, "/") || !scheme.Scheme.Recognizes(kind) {
				continue
			}
			checked++
			if got := kinds()[version.WithResource(r.Name)]; got != kind {
				t.Errorf("kinds()[%s] = %q, want %q", r.Name, got, kind)
			}
		}
	}
	if checked < 50 {
		t.Errorf("%d resources were compared, want at least 50: the test does not find them", checked)
	}
}

func TestForResourceIsRefusedWithoutADynamicClient(t *testing.T) {
	widgets := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"}
	f := New(newClientWithoutServer(t), Options{})
	_, err := f.ForResource(widgets)
	want := "an informer of widgets.v1.example.com: client-go has no type for it, and the factory no dynamic " +
		"client: set Options.Dynamic"
	if err == nil || err.Error() != want {
		t.Errorf("ForResource(widgets) = %v\nwant %s", err, want)
	}
	generic, err := f.ClientGo().ForResource(widgets)
	if generic != nil || err == nil {
		t.Errorf("ClientGo().ForResource(widgets) = %v, %v; want nil and an error", generic, err)
	}
	if len(f.entries) != 0 {
		t.Errorf("the factory has the informers of %v, want none", slices.Collect(maps.Keys(f.entries)))
	}
}

// The dynamic client lists and watches the program's own types. It does not matter that they are
// registered in scheme.Scheme, or that their group begins like one of client-go's.
func TestTypesOfTheProgramsOwn(t *testing.T) {
	for _, test := range []struct {
		resource schema.GroupVersionResource
		kind     string
	}{
		{
			resource: schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "gizmos"},
			kind:     "Gizmo",
		},
		{
			resource: schema.GroupVersionResource{
				Group: "apps.kruise.io", Version: "v1beta1", Resource: "statefulsets",
			},
			kind: "StatefulSet",
		},
	} {
		t.Run(name(test.resource), func(t *testing.T) {
			version := test.resource.GroupVersion()
			scheme.Scheme.AddKnownTypeWithName(version.WithKind(test.kind), &gadget{})
			served := &unstructured.Unstructured{}
			served.SetGroupVersionKind(version.WithKind(test.kind))
			served.SetNamespace("ns")
			served.SetName("a")
			path := "/apis/" + version.String() + "/" + test.resource.Resource
			server, client, dynamicClient := newServer(t, map[string]iter.Seq[any]{path: slices.Values([]any{served})})
			f := New(client, Options{Dynamic: dynamicClient})
			generic, err := f.ForResource(test.resource)
			must.NoError(t, err)
			start(t, f)
			if got, want := server.paths(), []string{path + " "}; !slices.Equal(got, want) {
				t.Errorf("the server was asked for %q, want %q", got, want)
			}
			obj, err := generic.Lister().ByNamespace("ns").Get("a")
			must.NoError(t, err)
			if kind := obj.(*unstructured.Unstructured).GetKind(); kind != test.kind {
				t.Errorf("the cached object has kind %q, want %q", kind, test.kind)
			}
		})
	}
}
