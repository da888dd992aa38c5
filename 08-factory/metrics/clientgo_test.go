package metrics

import (
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// client-go measures the way from the reflector into the store. It does not measure handlers,
// although a comment says so.
func TestWhatClientGoMeasures(t *testing.T) {
	must.FindInClientGo(t, "informer_metrics.go", "the time taken to process events (execute handlers)",
		"Only the first call has an effect.")
	// A provider whose methods panic, so that the test fails if a reflector uses it.
	cache.SetReflectorMetricsProvider(struct{ cache.MetricsProvider }{})
	name, err := cache.NewInformerName("test")
	must.NoError(t, err)
	defer name.Release()
	id := name.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	for _, id := range []cache.InformerNameAndResource{id, {}} {
		synctest.Test(t, func(t *testing.T) {
			registry, server, stuck := prometheus.NewRegistry(), fakeapi.New(), newGateHandler("stuck")
			i := cache.NewSharedIndexInformerWithOptions(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
				Identifier: id, InformerMetricsProvider: ClientGo(registry)})
			_, err := i.AddEventHandler(stuck)
			must.NoError(t, err)
			must.Run(t, i.RunWithContext)
			fakeapi.Expire(server.NextWatch())
			w := server.NextWatch()
			w.Add(fakeapi.ConfigMap("a", "2"))
			w.Modify(fakeapi.ConfigMap("a", "3"))
			time.Sleep(time.Minute)
			close(stuck.open)
			synctest.Wait()
			want := ""
			if id.Reserved() {
				want = `
# HELP informer_queued_items Items in the queue before the store.
# TYPE informer_queued_items gauge
informer_queued_items{group="",name="test",resource="configmaps",version="v1"} 0
# HELP informer_store_resource_version The version of the store: its last 15 digits.
# TYPE informer_store_resource_version gauge
informer_store_resource_version{group="",name="test",resource="configmaps",version="v1"} 3
`
			}
			must.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(want), "informer_queued_items",
				"informer_store_resource_version"))
			families, err := registry.Gather()
			must.NoError(t, err)
			for _, family := range families {
				h := family.Metric[0].GetHistogram()
				if h == nil {
					continue
				}
				if h.GetSampleCount() < 3 {
					t.Errorf("%s has %d samples, want at least 3", family.GetName(), h.GetSampleCount())
				}
				if h.GetSampleSum() > 1 {
					t.Errorf("%s sums up to %v s, want less than a second, without the minute of the handler",
						family.GetName(), h.GetSampleSum())
				}
			}
		})
	}
}

// The provider for all informers is the one of the first call, and not for informers made before. The
// informers of a dynamic factory have no name, and so no metrics.
func TestTheProviderForAllInformers(t *testing.T) {
	const inSubprocess = "FIRST_PROVIDER" // because a program can set the provider only once
	if os.Getenv(inSubprocess) == "" {
		output, err := must.RunInSubprocess(t, t.Name(), inSubprocess+"=yes")
		if err != nil {
			t.Errorf("%v:\n%s", err, output)
		}
		return
	}
	synctest.Test(t, func(t *testing.T) {
		name, err := cache.NewInformerName("test")
		must.NoError(t, err)
		defer name.Release()
		run := func(resource string) func() {
			options := cache.SharedIndexInformerOptions{
				Identifier: name.WithResource(corev1.SchemeGroupVersion.WithResource(resource))}
			i := cache.NewSharedIndexInformerWithOptions(fakeapi.New(), &corev1.ConfigMap{}, options)
			return func() { must.Run(t, i.RunWithContext) }
		}
		registry := prometheus.NewRegistry()
		runEarly := run("early")
		cache.SetInformerMetricsProvider(ClientGo(registry))
		cache.SetInformerMetricsProvider(struct{ cache.InformerMetricsProvider }{}) // its methods would panic
		runEarly()
		run("late")()
		configMaps := corev1.SchemeGroupVersion.WithResource("configmaps") // the dynamic factory gives it no name
		client := dynamicfake.NewSimpleDynamicClientWithCustomListKinds(runtime.NewScheme(),
			map[schema.GroupVersionResource]string{configMaps: "ConfigMapList"})
		unnamed := dynamicinformer.NewDynamicSharedInformerFactory(client, 0).ForResource(configMaps).Informer()
		must.Run(t, unnamed.RunWithContext)
		synctest.Wait()
		must.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP informer_store_resource_version The version of the store: its last 15 digits.
# TYPE informer_store_resource_version gauge
informer_store_resource_version{group="",name="test",resource="late",version="v1"} 1
`), "informer_store_resource_version"))
	})
}

// series returns the series of a registry, each as the informer's name and the metric's name,
// sorted.
func series(t *testing.T, registry *prometheus.Registry) (all []string) {
	t.Helper()
	families, err := registry.Gather()
	must.NoError(t, err)
	for _, family := range families {
		for _, metric := range family.Metric {
			for _, label := range metric.Label {
				if label.GetName() == "name" {
					all = append(all, label.GetValue()+" "+family.GetName())
				}
			}
		}
	}
	slices.Sort(all)
	return all
}

// run makes and runs an informer of client-go's that has a name. The function that it returns ends
// the informer and releases the name.
func run(t *testing.T, registry *prometheus.Registry, name string) (release func()) {
	t.Helper()
	informerName, err := cache.NewInformerName(name)
	must.NoError(t, err)
	i := cache.NewSharedIndexInformerWithOptions(fakeapi.New(fakeapi.ConfigMap("a", "1")), &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{
			Identifier:              informerName.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps")),
			InformerMetricsProvider: ClientGo(registry),
		})
	stop := must.Run(t, i.RunWithContext)
	synctest.Wait()
	return func() {
		stop()
		informerName.Release()
	}
}

// seriesOf returns the series that informers with these names have.
func seriesOf(informers ...string) (all []string) {
	for _, name := range informers {
		all = append(all,
			name+" informer_processing_latency_seconds",
			name+" informer_queued_items",
			name+" informer_store_resource_version",
		)
	}
	return all
}

// Two informers, for which ClientGo is called with the same registry.
func TestTwoInformersInOneRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		defer run(t, registry, "first")()
		defer run(t, registry, "second")()
		if diff := cmp.Diff(seriesOf("first", "second"), series(t, registry)); diff != "" {
			t.Errorf("the series of the registry differ (-want +got):\n%s", diff)
		}
	})
}

// A program that makes informers again and again must not keep the series of all of them.
func TestAReleasedNameHasNoSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		release := run(t, registry, "first")
		defer run(t, registry, "second")()
		release()
		if diff := cmp.Diff(seriesOf("second"), series(t, registry)); diff != "" {
			t.Errorf("the series after the release of first (-want +got):\n%s", diff)
		}
		defer run(t, registry, "first")() // a new informer gets the name
		if diff := cmp.Diff(seriesOf("first", "second"), series(t, registry)); diff != "" {
			t.Errorf("the series after a new informer got the name first (-want +got):\n%s", diff)
		}
	})
}

// A new informer gets the name of an earlier one. No collection comes between the release and the
// new informer.
func TestANameThatIsTakenAgainBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		count := func() uint64 { // the samples of the histogram
			families, err := registry.Gather()
			must.NoError(t, err)
			for _, family := range families {
				if h := family.Metric[0].GetHistogram(); h != nil {
					return h.GetSampleCount()
				}
			}
			return 0
		}
		release := run(t, registry, "first")
		want := count()
		release()
		defer run(t, registry, "first")()
		if got := count(); got != want {
			t.Errorf("the histogram has %d samples, want %d: those of the new informer alone", got, want)
		}
	})
}
