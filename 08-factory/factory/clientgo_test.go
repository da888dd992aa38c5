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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// What client-go's groups hand out is wrapped, and is ours underneath.
func TestTheStandInsInformersAreTheFactorys(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	theirs := f.ClientGo()
	own := f.Pods().Informer()
	_, ok := own.(*informer.Informer)
	expect.That(t, ok, "it is a %T", own)
	pods := theirs.Core().V1().Pods()
	generic, err := theirs.ForResource(Pods)
	must.Do(t, err)
	if pods.Informer().GetStore() != own.GetStore() || pods.TypedInformer().GetIndexer() != own.GetIndexer() ||
		generic.Informer() != own || theirs.InformerFor(&corev1.Pod{}, nil) != own {
		t.Error("there is more than one informer of pods")
	}
	expect.That(t, len(f.entries) == 1, "%d informers, want 1", len(f.entries))
}

// With a list of its own, and a transform of its own.
func TestInformerForTakesACallersFunction(t *testing.T) {
	for _, test := range []struct {
		name    string
		options Options
		kind    string
	}{
		{"plain", Options{DefaultResync: time.Hour}, "own"},
		{"with Kinds", Options{DefaultResync: time.Hour, Kinds: true}, "ConfigMap"},
	} {
		t.Run(test.name, func(t *testing.T) {
			client := fake.NewClientset()
			f := New(client, test.options)
			var made cache.SharedIndexInformer
			got := f.ClientGo().InformerFor(&corev1.ConfigMap{},
				func(given kubernetes.Interface, resync time.Duration) cache.SharedIndexInformer {
					expect.That(t, given == client && resync == time.Hour, "given %v and %v", given, resync)
					made = informer.New(fakeapi.New(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta}),
						&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
					must.Do(t, made.SetTransform(func(obj any) (any, error) {
						obj.(*corev1.ConfigMap).Kind = "own"
						return obj, nil
					}))
					return made
				})
			expect.That(t, got == made && f.ConfigMaps().Informer() == made, "the caller's informer was not taken")
			start(t, f)
			if obj, _, _ := got.GetStore().GetByKey("ns/a"); obj.(*corev1.ConfigMap).Kind != test.kind {
				t.Errorf("stored with kind %q, want %q", obj.(*corev1.ConfigMap).Kind, test.kind)
			}
		})
	}
}

// A type that is in no scheme is a type too.
type gadget struct{ corev1.ConfigMap }

func TestInformerForOfATypeOfTheCallersOwn(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	one := f.ClientGo().InformerFor(&gadget{}, on(fakeapi.New(), &gadget{}))
	expect.That(t, f.ClientGo().InformerFor(&gadget{}, nil) == one, "there is more than one informer of gadgets")
	start(t, f)
	expect.That(t, one.HasSynced(), "it was not waited for")
}

// ofKind is an object without a Go type of its own.
func ofKind(kind schema.GroupVersionKind) runtime.Object {
	obj := &unstructured.Unstructured{}
	obj.SetGroupVersionKind(kind)
	return obj
}

// Two types of one printed name; two kinds of one type that stands for any; and
// pods, with a Go type and without. All of them are different things.
func TestInformerForKeepsTypesApart(t *testing.T) {
	gateway := func() runtime.Object {
		type Gateway struct{ corev1.ConfigMap }
		return &Gateway{}
	}
	another := func() runtime.Object {
		type Gateway struct{ corev1.ConfigMap }
		return &Gateway{}
	}
	pod := corev1.SchemeGroupVersion.WithKind("Pod")
	f := New(fake.NewClientset(), Options{})
	made := map[cache.SharedIndexInformer]string{}
	for _, obj := range []runtime.Object{
		gateway(), another(), ofKind(pod), ofKind(corev1.SchemeGroupVersion.WithKind("Node")), &corev1.Pod{},
		&metav1.PartialObjectMetadata{}, &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1",
			Kind: "Pod"}},
	} {
		one := f.ClientGo().InformerFor(obj, on(fakeapi.New(), obj))
		other, ok := made[one]
		expect.That(t, !ok, "%T of %v has the informer of %s", obj, obj.GetObjectKind(), other)
		made[one] = fmt.Sprintf("%T of %v", obj, obj.GetObjectKind())
		expect.That(t, f.ClientGo().InformerFor(obj, nil) == one,
			"there is more than one informer of %T of %v", obj, obj.GetObjectKind())
	}
	start(t, f)
	_, err := f.Pods().Lister().List(labels.Everything())
	expect.That(t, err == nil, "%v", err)
}

// A type of the caller's own is in the map, and so is the one type that all
// objects of the dynamic client have: false as long as one of them is missing.
func TestTheStandInSaysItOfAllTypes(t *testing.T) {
	_, client, dyn := newServer(t, map[string]iter.Seq[any]{configMaps: these("a"),
		"/apis/example.com/v1/widgets": these()})
	f := New(client, Options{Dynamic: dyn})
	defer f.Shutdown()
	theirs := f.ClientGo()
	served := []cache.SharedIndexInformer{theirs.Core().V1().ConfigMaps().Informer(),
		theirs.InformerFor(&gadget{}, on(fakeapi.New(), &gadget{}))}
	theirs.Apps().V1().Deployments().Informer()
	for _, resource := range []string{"widgets", "gizmos"} {
		asked, err := f.ForResource(schema.GroupVersionResource{Group: "example.com", Version: "v1",
			Resource: resource})
		must.Do(t, err)
		if resource == "widgets" {
			served = append(served, asked.Informer())
		}
	}
	stop := make(chan struct{})
	theirs.Start(stop)
	for _, informer := range served {
		must.Until(t, "it has synced", informer.HasSynced)
	}
	tired := errors.New("no more patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, tired)
	defer cancel()
	result := theirs.WaitForCacheSyncWithContext(ctx)
	want := map[reflect.Type]bool{
		reflect.TypeFor[*corev1.ConfigMap](): true, reflect.TypeFor[*appsv1.Deployment](): false,
		reflect.TypeFor[*gadget](): true, reflect.TypeFor[*unstructured.Unstructured](): false,
	}
	expect.That(t, maps.Equal(result.Synced, want) && errors.Is(result.Err, tired) && result.AsError() != nil,
		"got %v, %v; want %v", result.Synced, result.Err, want)
	close(stop)
	synced := theirs.WaitForCacheSync(stop)
	expect.That(t, maps.Equal(synced, want), "got %v, want %v", synced, want)
	theirs.Shutdown()
}

// askedMetrics are the names of the metrics that were asked for. There is one
// provider for the whole process, even if a test runs twice.
var askedMetrics []string

type metrics struct{}

type noMetric struct{}

func (noMetric) Set(float64)     {}
func (noMetric) Observe(float64) {}

func (metrics) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return noMetric{}
}

func (metrics) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return noMetric{}
}

func (metrics) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	askedMetrics = append(askedMetrics, id.Name()+" "+id.GroupVersionResource().Resource)
	return noMetric{}
}

// The name is in the metrics, after Forget too, and free again after Shutdown.
func TestTheInformersPublishMetricsUnderTheName(t *testing.T) {
	askedMetrics = nil
	cache.SetInformerMetricsProvider(metrics{})
	informerName, err := cache.NewInformerName("TestMetrics")
	must.Do(t, err)
	f := New(fake.NewClientset(), Options{InformerName: informerName})
	expect.That(t, f.ClientGo().InformerName() == informerName, "the stand-in does not say the name")
	f.ConfigMaps()
	f.Forget(ConfigMaps)
	f.ConfigMaps()
	f.Shutdown()
	want := []string{"TestMetrics configmaps", "TestMetrics configmaps"}
	expect.That(t, slices.Equal(askedMetrics, want), "metrics of %q, want %q", askedMetrics, want)
	again, err := cache.NewInformerName("TestMetrics")
	must.Do(t, err)
	again.Release()
}

// The typed handlers of client-go 0.37 on our informer.
func TestATypedHandlerOfClientGos(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{Kinds: true})
	calls := make(chan string, 10)
	_, err := f.ClientGo().Core().V1().ConfigMaps().TypedInformer().AddTypedEventHandler(
		cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
			AddFunc: func(obj *corev1.ConfigMap) { calls <- "add " + obj.Name + " " + obj.Kind },
			DeleteFunc: func(obj cache.DeletedObject[*corev1.ConfigMap]) {
				calls <- "delete " + obj.GetKey() + " " + obj.OptionalObj.Kind
			},
		})
	must.Do(t, err)
	start(t, f)
	server.events <- event{"DELETED", configMap("a")}
	for _, want := range []string{"add a ConfigMap", "delete ns/a ConfigMap"} {
		got := <-calls
		expect.That(t, got == want, "got %q, want %q", got, want)
	}
}
