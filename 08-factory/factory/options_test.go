package factory

import (
	"errors"
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

	"example.com/informer/03-reflector/observer"
	"example.com/informer/04-indexer/indexer"
	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/must"
)

// Nodes belong to no namespace. Their informer lists all of them, even if the options have a
// namespace.
func TestNamespaceAndTweak(t *testing.T) {
	const (
		configMapsOfNS = "/api/v1/namespaces/ns/configmaps"
		nodes          = "/api/v1/nodes"
		widgetsOfNS    = "/apis/example.com/v1/namespaces/ns/widgets"
	)
	server, client, dynamicClient := newServer(t, map[string]iter.Seq[any]{
		configMapsOfNS: configMapsNamed("a"),
		nodes:          configMapsNamed(),
		widgetsOfNS:    configMapsNamed(),
	})
	f := New(client, Options{
		Namespace:        "ns",
		TweakListOptions: func(options *metav1.ListOptions) { options.LabelSelector = "app=web" },
		Dynamic:          dynamicClient,
	})
	f.ConfigMaps()
	f.Nodes()
	_, err := f.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "widgets"})
	must.NoError(t, err)
	start(t, f)
	want := []string{configMapsOfNS + " app=web", nodes + " app=web", widgetsOfNS + " app=web"}
	if got := server.paths(); !slices.Equal(got, want) {
		t.Errorf("the server was asked for %q, want %q", got, want)
	}
}

// A program can call the methods that only our informer has.
func TestAnInformerOfAFactoryHasTheMethodsOfOurs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(fake.NewClientset(configMap("a")), Options{})
		ours, ok := f.ConfigMaps().Informer().(*informer.Informer)
		if !ok {
			t.Fatalf("ConfigMaps().Informer() is a %T, want *informer.Informer", f.ConfigMaps().Informer())
		}
		var stored []string
		must.NoError(t, ours.SetObserver(observer.Func(func(event any) {
			if e, ok := event.(informer.Stored); ok {
				stored = append(stored, e.Key)
			}
		})))
		ours.SetPatience(500)
		must.NoError(t, ours.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
		start(t, f)
		if want := []string{"ns/a"}; !slices.Equal(stored, want) {
			t.Errorf("the observer saw that %q were stored, want %q", stored, want)
		}
	})
}

// Only the server knows which custom resources belong to namespaces. (For client-go's types, the
// methods of the clientset say it.) Therefore a factory that has a namespace asks for a custom
// resource in that namespace, even if the resource belongs to none. client-go's factory does the
// same.
func TestACustomResourceOfNoNamespaceInAFactoryThatHasOne(t *testing.T) {
	moons := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "moons"}
	ours := func(t *testing.T, client dynamic.Interface) {
		f := New(newClientWithoutServer(t), Options{Namespace: "ns", Dynamic: client})
		_, err := f.ForResource(moons)
		must.NoError(t, err)
		f.Start(t.Context())
		t.Cleanup(f.Shutdown)
	}
	theirs := func(t *testing.T, client dynamic.Interface) {
		f := dynamicinformer.NewFilteredDynamicSharedInformerFactory(client, 0, "ns", nil)
		f.ForResource(moons)
		stop := make(chan struct{})
		f.Start(stop)
		t.Cleanup(func() {
			close(stop)
			f.Shutdown()
		})
	}
	for name, start := range map[string]func(*testing.T, dynamic.Interface){"ours": ours, "client-go's": theirs} {
		t.Run(name, func(t *testing.T) {
			server, _, client := newServer(t, nil)
			start(t, client)
			must.Until(t, "the informer has sent a request", func() bool { return len(server.paths()) > 0 })
			want := []string{"/apis/example.com/v1/namespaces/ns/moons "}
			if got := server.paths(); !slices.Equal(got, want) {
				t.Errorf("the server was asked for %q, want %q", got, want)
			}
		})
	}
}

func TestAllNamespacesIsTheDefault(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
	f := New(client, Options{})
	f.ConfigMaps()
	start(t, f)
	want := []string{configMaps + " "}
	if got := server.paths(); !slices.Equal(got, want) {
		t.Errorf("the server was asked for %q, want %q", got, want)
	}
}

func TestResync(t *testing.T) {
	for _, test := range []struct {
		name        string
		options     Options
		pods, nodes int // resyncs in ten seconds
	}{
		{name: "never", options: Options{}, pods: 0, nodes: 0},
		{name: "all", options: Options{DefaultResync: 2 * time.Second}, pods: 5, nodes: 5},
		{
			name:    "one",
			options: Options{CustomResync: map[schema.GroupVersionResource]time.Duration{Pods: 5 * time.Second}},
			pods:    2,
			nodes:   0,
		},
		{
			name: "all but one",
			options: Options{
				DefaultResync: 2 * time.Second,
				CustomResync:  map[schema.GroupVersionResource]time.Duration{Nodes: 0},
			},
			pods:  5,
			nodes: 0,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(fake.NewClientset(&corev1.Pod{ObjectMeta: configMap("a").ObjectMeta},
					&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}), test.options)
				defer f.Shutdown()
				countUpdates := func(informer cache.SharedIndexInformer, count *int) {
					_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{UpdateFunc: func(any, any) {
						*count++
					}})
					must.NoError(t, err)
				}
				var pods, nodes int
				countUpdates(f.Pods().Informer(), &pods)
				countUpdates(f.Nodes().Informer(), &nodes)
				f.Start(t.Context())
				time.Sleep(10*time.Second + time.Millisecond) // of the bubble's time
				f.Shutdown()
				if pods != test.pods {
					t.Errorf("%d resyncs of pods in ten seconds, want %d", pods, test.pods)
				}
				if nodes != test.nodes {
					t.Errorf("%d resyncs of nodes in ten seconds, want %d", nodes, test.nodes)
				}
			})
		})
	}
}

func TestTransform(t *testing.T) {
	annotate := func(obj any) (any, error) {
		obj.(metav1.Object).SetAnnotations(map[string]string{"transformed": "yes"})
		return obj, nil
	}
	for _, test := range []struct {
		options  Options
		wantKind string
	}{
		{options: Options{Transform: annotate}, wantKind: ""},
		{options: Options{Transform: annotate, Kinds: true}, wantKind: "ConfigMap"},
	} {
		_, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
		f := New(client, test.options)
		lister := f.ConfigMaps().Lister()
		start(t, f)
		got, err := lister.ConfigMaps("ns").Get("a")
		must.NoError(t, err)
		if got.Annotations["transformed"] != "yes" {
			t.Errorf("Kinds %t: the annotations are %v, want transformed: yes", test.options.Kinds, got.Annotations)
		}
		if got.Kind != test.wantKind {
			t.Errorf("Kinds %t: the kind is %q, want %q", test.options.Kinds, got.Kind, test.wantKind)
		}
	}
}

func TestATransformsErrorIsPassedOn(t *testing.T) {
	want := errors.New("the transform fails")
	f := New(fake.NewClientset(), Options{
		Kinds:     true,
		Transform: func(any) (any, error) { return nil, want },
	})
	if _, err := f.options.transform(kinds()[Pods])(&corev1.Pod{}); !errors.Is(err, want) {
		t.Errorf("the factory's transform returns the error %v, want %v", err, want)
	}
}
