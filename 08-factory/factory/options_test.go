package factory

import (
	"iter"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A resource that is in no namespace is listed whole, also if there is one in
// the options: there is no such path.
func TestNamespaceAndTweak(t *testing.T) {
	const own, widgets = "/api/v1/namespaces/ns/configmaps", "/apis/example.com/v1/namespaces/ns/widgets"
	server, client, dyn := newServer(t, map[string]iter.Seq[any]{own: these("a"), "/api/v1/nodes": these(),
		widgets: these()})
	f := New(client, Options{
		Namespace:        "ns",
		TweakListOptions: func(options *metav1.ListOptions) { options.LabelSelector = "app=web" },
		Dynamic:          dyn,
	})
	f.ConfigMaps()
	f.Nodes()
	_, err := f.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	must.Do(t, err)
	start(t, f)
	want := []string{own + " app=web", "/api/v1/nodes app=web", widgets + " app=web"}
	got := server.paths()
	expect.That(t, slices.Equal(got, want), "asked for %q, want %q", got, want)
}

func TestWrap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var wrapped []string
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		f := New(nowhere(t), Options{
			Wrap: func(resource schema.GroupVersionResource, _ cache.ListerWatcher) cache.ListerWatcher {
				wrapped = append(wrapped, resource.Resource)
				return server
			},
		})
		lister := f.ConfigMaps().Lister()
		start(t, f)
		_, err := lister.ConfigMaps("ns").Get("a")
		must.Do(t, err)
		expect.That(t, slices.Equal(wrapped, []string{"configmaps"}), "wrapped %q, want each informer once", wrapped)
	})
}

// Which resources are in namespaces, only the server knows; a clientset has it
// in its methods. So a custom resource that is in none is asked for where it is
// not, by client-go's factory too.
func TestACustomResourceOfNoNamespaceInAFactoryThatHasOne(t *testing.T) {
	moons := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "moons"}
	ours := func(t *testing.T, client dynamic.Interface) {
		f := New(nowhere(t), Options{Namespace: "ns", Dynamic: client})
		_, err := f.ForResource(moons)
		must.Do(t, err)
		f.Start(t.Context())
		t.Cleanup(f.Shutdown)
	}
	theirs := func(t *testing.T, client dynamic.Interface) {
		f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "ns", nil)
		f.ForResource(moons)
		stop := make(chan struct{})
		f.Start(stop)
		t.Cleanup(func() { close(stop); f.Shutdown() })
	}
	for name, start := range map[string]func(*testing.T, dynamic.Interface){"ours": ours, "client-go's": theirs} {
		t.Run(name, func(t *testing.T) {
			server, _, client := newServer(t, nil)
			start(t, client)
			must.Until(t, "it asks", func() bool { return len(server.paths()) > 0 })
			got, want := server.paths(),
				[]string{"/apis/example.com/v1/namespaces/ns/moons "}
			expect.That(t, slices.Equal(got, want), "asked for %q, want %q", got, want)
		})
	}
}

func TestAllNamespacesIsTheDefault(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{})
	f.ConfigMaps()
	start(t, f)
	got, want := server.paths(), []string{configMaps + " "}
	expect.That(t, slices.Equal(got, want), "asked for %q, want %q", got, want)
}

func TestResync(t *testing.T) {
	for _, test := range []struct {
		name        string
		options     Options
		pods, nodes int // resyncs in ten seconds
	}{
		{"never", Options{}, 0, 0},
		{"all", Options{DefaultResync: 2 * time.Second}, 5, 5},
		{"one", Options{CustomResync: map[schema.GroupVersionResource]time.Duration{Pods: 5 * time.Second}}, 2, 0},
		{"all but one", Options{
			DefaultResync: 2 * time.Second,
			CustomResync:  map[schema.GroupVersionResource]time.Duration{Nodes: 0},
		}, 5, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(fake.NewClientset(&corev1.Pod{ObjectMeta: configMap("a").ObjectMeta},
					&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}), test.options)
				defer f.Shutdown()
				again := func(informer cache.SharedIndexInformer, times *int) {
					_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
						*times++
					}})
					must.Do(t, err)
				}
				var pods, nodes int
				again(f.Pods().Informer(), &pods)
				again(f.Nodes().Informer(), &nodes)
				f.Start(t.Context())
				time.Sleep(10*time.Second + time.Millisecond) // it is fake
				f.Shutdown()
				expect.That(t, pods == test.pods && nodes == test.nodes,
					"%d resyncs of pods, %d of nodes; want %d and %d", pods, nodes, test.pods, test.nodes)
			})
		})
	}
}

// seen is a transform that can take what it gave.
func seen(obj any) (any, error) {
	obj.(metav1.Object).SetAnnotations(map[string]string{"seen": "yes"})
	return obj, nil
}

func TestTransform(t *testing.T) {
	for _, kinds := range []bool{false, true} {
		_, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
		f := New(client, Options{Transform: seen, Kinds: kinds})
		lister := f.ConfigMaps().Lister()
		start(t, f)
		got, err := lister.ConfigMaps("ns").Get("a")
		must.Do(t, err)
		expect.That(t, got.Annotations["seen"] == "yes" && (got.Kind != "") == kinds,
			"with Kinds %t: stored %v %v", kinds, got.TypeMeta, got.Annotations)
	}
}
