package factory

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// client-go's groups wrap the informers that they return. Underneath they are the factory's.
func TestTheStandInsInformersAreTheFactorys(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	standIn := f.ClientGo()
	want := f.Pods().Informer()
	if _, ok := want.(*informer.Informer); !ok {
		t.Errorf("Pods().Informer() is a %T, want *informer.Informer", want)
	}
	pods := standIn.Core().V1().Pods()
	if pods.Informer().GetStore() != want.GetStore() {
		t.Error("Core().V1().Pods().Informer() has another store than Factory.Pods")
	}
	if pods.TypedInformer().GetIndexer() != want.GetIndexer() {
		t.Error("Core().V1().Pods().TypedInformer() has another indexer than Factory.Pods")
	}
	generic, err := standIn.ForResource(Pods)
	must.NoError(t, err)
	if generic.Informer() != want {
		t.Error("ForResource(Pods) returns another informer than Factory.Pods")
	}
	if standIn.InformerFor(&corev1.Pod{}, nil) != want {
		t.Error("InformerFor(&corev1.Pod{}) returns another informer than Factory.Pods")
	}
	if len(f.entries) != 1 {
		t.Errorf("the factory has %d informers, want 1", len(f.entries))
	}
}

// The caller's function makes an informer with a list of its own and a transform of its own. The
// option Kinds replaces that transform.
func TestInformerForTakesACallersFunction(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		want    string // the kind of the stored object
	}{
		{name: "plain", options: Options{DefaultResync: time.Hour}, want: "own"},
		{name: "with Kinds", options: Options{DefaultResync: time.Hour, Kinds: true}, want: "ConfigMap"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewClientset()
			f := New(client, test.options)
			var made cache.SharedIndexInformer
			got := f.ClientGo().InformerFor(&corev1.ConfigMap{},
				func(given kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
					if given != client {
						t.Errorf("the function got the client %v, want %v", given, client)
					}
					if resync != time.Hour {
						t.Errorf("the function got the resync period %v, want 1h", resync)
					}
					made = informer.New(fakeapi.New(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta}),
						&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
					must.NoError(t, made.SetTransform(func(obj any) (any, error) {
						obj.(*corev1.ConfigMap).Kind = "own"
						return obj, nil
					}))
					return made
				})
			if got != made {
				t.Error("InformerFor returns another informer than the one that the function made")
			}
			if f.ConfigMaps().Informer() != made {
				t.Error("ConfigMaps returns another informer than the one that the function made")
			}
			start(t, f)
			obj, exists, err := got.GetStore().GetByKey("ns/a")
			if err != nil || !exists {
				t.Fatalf("GetByKey(ns/a) = %v, %t, %v; want an object", obj, exists, err)
			}
			if kind := obj.(*corev1.ConfigMap).Kind; kind != test.want {
				t.Errorf("the stored object has kind %q, want %q", kind, test.want)
			}
		})
	}
}

// A gadget is an object whose type is in no scheme.
type gadget struct{ corev1.ConfigMap }

func TestInformerForOfATypeOfTheCallersOwn(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	gadgets := f.ClientGo().InformerFor(&gadget{}, newInformerFunc(fakeapi.New(), &gadget{}))
	if f.ClientGo().InformerFor(&gadget{}, nil) != gadgets {
		t.Error("the second InformerFor(&gadget{}) returns another informer")
	}
	start(t, f)
	if !gadgets.HasSynced() {
		t.Error("the informer of gadgets has not synced after WaitForCacheSync")
	}
}

// unstructuredOf returns an object of a kind, without a Go type of its own.
func unstructuredOf(kind schema.GroupVersionKind) runtime.Object {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	return obj
}

// Different types get different informers: two Go types whose names are equal, two kinds of
// unstructured objects, and pods with a Go type and without.
func TestInformerForKeepsTypesApart(t *testing.T) {
	newGateway := func() runtime.Object {
		type Gateway struct{ corev1.ConfigMap }
		return &Gateway{}
	}
	newOtherGateway := func() runtime.Object {
		type Gateway struct{ corev1.ConfigMap }
		return &Gateway{}
	}
	f := New(fake.NewClientset(), Options{})
	typeByInformer := map[cache.SharedIndexInformer]string{}
	for _, obj := range []runtime.Object{
		newGateway(),
		newOtherGateway(),
		unstructuredOf(corev1.SchemeGroupVersion.WithKind("Pod")),
		unstructuredOf(corev1.SchemeGroupVersion.WithKind("Node")),
		&corev1.Pod{},
		&metav1.PartialObjectMetadata{},
		&metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}},
	} {
		typeName := fmt.Sprintf("%T of %v", obj, obj.GetObjectKind())
		got := f.ClientGo().InformerFor(obj, newInformerFunc(fakeapi.New(), obj))
		if other, ok := typeByInformer[got]; ok {
			t.Errorf("InformerFor(%s) returns the informer of %s", typeName, other)
		}
		typeByInformer[got] = typeName
		if f.ClientGo().InformerFor(obj, nil) != got {
			t.Errorf("the second InformerFor(%s) returns another informer", typeName)
		}
	}
	start(t, f)
	if _, err := f.Pods().Lister().List(labels.Everything()); err != nil {
		t.Errorf("Pods().Lister().List() = %v, want no error", err)
	}
}

// The result has the types of the program, too. All objects of the dynamic client have one Go type:
// it is false as long as one of their informers has not synced.
func TestTheStandInSaysItOfAllTypes(t *testing.T) {
	_, client, dynamicClient := newServer(t, map[string]iter.Seq[any]{
		configMaps:                     configMapsNamed("a"),
		"/apis/example.com/v1/widgets": configMapsNamed(),
	})
	f := New(client, Options{Dynamic: dynamicClient})
	defer f.Shutdown()
	standIn := f.ClientGo()
	example := schema.GroupVersion{Group: "example.com", Version: "v1"}
	widgets, err := f.ForResource(example.WithResource("widgets"))
	must.NoError(t, err)
	served := []cache.SharedIndexInformer{
		standIn.Core().V1().ConfigMaps().Informer(),
		standIn.InformerFor(&gadget{}, newInformerFunc(fakeapi.New(), &gadget{})),
		widgets.Informer(),
	}
	// The server does not serve these two.
	standIn.Apps().V1().Deployments().Informer()
	_, err = f.ForResource(example.WithResource("gizmos"))
	must.NoError(t, err)

	stop := make(chan struct{})
	standIn.Start(stop)
	for _, i := range served {
		must.Until(t, "an informer whose resource is served has synced", i.HasSynced)
	}
	cause := errors.New("no more patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	result := standIn.WaitForCacheSyncWithContext(ctx)
	want := map[reflect.Type]bool{
		reflect.TypeFor[*corev1.ConfigMap]():          true,
		reflect.TypeFor[*appsv1.Deployment]():         false,
		reflect.TypeFor[*gadget]():                    true,
		reflect.TypeFor[*unstructured.Unstructured](): false,
	}
	if !maps.Equal(result.Synced, want) {
		t.Errorf("WaitForCacheSyncWithContext: Synced = %v, want %v", result.Synced, want)
	}
	if !errors.Is(result.Err, cause) {
		t.Errorf("WaitForCacheSyncWithContext: Err = %v, want %v", result.Err, cause)
	}
	if result.AsError() == nil {
		t.Error("WaitForCacheSyncWithContext: AsError() = nil, want an error")
	}
	close(stop)
	if synced := standIn.WaitForCacheSync(stop); !maps.Equal(synced, want) {
		t.Errorf("WaitForCacheSync = %v, want %v", synced, want)
	}
	standIn.Shutdown()
}

// requestedMetrics has the names for which an informer has requested metrics. A process has only
// one provider, even if a test runs twice: therefore it is a variable.
var requestedMetrics []string

// A metricsProvider counts in requestedMetrics. Its metrics do nothing.
type metricsProvider struct{}

func (metricsProvider) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return noMetric{}
}

func (metricsProvider) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return noMetric{}
}

func (metricsProvider) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	requestedMetrics = append(requestedMetrics, id.Name()+" "+id.GroupVersionResource().Resource)
	return noMetric{}
}

type noMetric struct{}

func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

// The metrics of the store have the name, even after Forget. After Shutdown the name is free again.
func TestTheInformersPublishMetricsUnderTheName(t *testing.T) {
	requestedMetrics = nil
	cache.SetInformerMetricsProvider(metricsProvider{})
	informerName, err := cache.NewInformerName("TestMetrics")
	must.NoError(t, err)
	f := New(fake.NewClientset(), Options{InformerName: informerName, Parts: parttwo.Parts})
	if got := f.ClientGo().InformerName(); got != informerName {
		t.Errorf("InformerName() = %v, want %v", got, informerName)
	}
	f.ConfigMaps()
	f.Forget(ConfigMaps)
	f.ConfigMaps()
	f.Shutdown()
	want := []string{"TestMetrics configmaps", "TestMetrics configmaps"}
	if !slices.Equal(requestedMetrics, want) {
		t.Errorf("the informers requested metrics for %q, want %q", requestedMetrics, want)
	}
	again, err := cache.NewInformerName("TestMetrics")
	must.NoError(t, err)
	again.Release()
}

// Our informer calls the typed handlers that client-go has since 0.37.
func TestATypedHandlerOfClientGos(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
	f := New(client, Options{Kinds: true})
	calls := make(chan string, 10)
	_, err := f.ClientGo().Core().V1().ConfigMaps().TypedInformer().AddTypedEventHandler(
		cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
			AddFunc: func(obj *corev1.ConfigMap) { calls <- "add " + obj.Name + " " + obj.Kind },
			DeleteFunc: func(obj cache.DeletedObject[*corev1.ConfigMap]) {
				calls <- "delete " + obj.GetKey() + " " + obj.OptionalObj.Kind
			},
		})
	must.NoError(t, err)
	start(t, f)
	server.Events <- fakeapi.Event{Type: "DELETED", Object: configMap("a")}
	for _, want := range []string{"add a ConfigMap", "delete ns/a ConfigMap"} {
		if got := <-calls; got != want {
			t.Errorf("the handler was called with %q, want %q", got, want)
		}
	}
}
