package metrics

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// It is the way from the reflector into the store, and no handler.
func TestWhatClientGoMeasures(t *testing.T) {
	must.Say(t, "informer_metrics.go", "the time taken to process events (execute handlers)",
		"Only the first call has an effect.")
	cache.SetReflectorMetricsProvider(struct{ cache.MetricsProvider }{}) // nil: to ask it for a metric is a panic
	name, err := cache.NewInformerName("test")
	must.Do(t, err)
	defer name.Release()
	id := name.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
	for _, id := range []cache.InformerNameAndResource{id, {}} {
		synctest.Test(t, func(t *testing.T) {
			registry, server, stuck := prometheus.NewRegistry(), fakeapi.New(), newGate("stuck")
			i := cache.NewSharedIndexInformerWithOptions(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
				Identifier: id, InformerMetricsProvider: ClientGo(registry)})
			_, err := i.AddEventHandler(stuck)
			must.Do(t, err)
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
			must.Do(t, testutil.GatherAndCompare(registry, strings.NewReader(want), "informer_queued_items",
				"informer_store_resource_version"))
			families, err := registry.Gather()
			must.Do(t, err)
			for _, family := range families {
				if h := family.Metric[0].GetHistogram(); h != nil && (h.GetSampleCount() < 3 || h.GetSampleSum() > 1) {
					t.Errorf("not the way into the store, but the handlers: %v", h)
				}
			}
		})
	}
}

// series are the samples of a registry, by the names of the informers, sorted.
func series(t *testing.T, registry *prometheus.Registry) (all []string) {
	t.Helper()
	families, err := registry.Gather()
	must.Do(t, err)
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

// run makes and runs an informer with a name, and returns what ends it and releases its name.
func run(t *testing.T, registry *prometheus.Registry, name string) (release func()) {
	t.Helper()
	informerName, err := cache.NewInformerName(name)
	must.Do(t, err)
	i := cache.NewSharedIndexInformerWithOptions(fakeapi.New(fakeapi.ConfigMap("a", "1")), &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{
			Identifier:              informerName.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps")),
			InformerMetricsProvider: ClientGo(registry),
		})
	stop := must.Run(t, i.RunWithContext)
	synctest.Wait()
	return func() { stop(); informerName.Release() }
}

func samples(informers ...string) (all []string) {
	for _, name := range informers {
		all = append(all, name+" informer_processing_latency_seconds", name+" informer_queued_items",
			name+" informer_store_resource_version")
	}
	return all
}

// Two informers, each with a provider of its own for the same registry.
func TestTwoInformersInOneRegistry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		defer run(t, registry, "first")()
		defer run(t, registry, "second")()
		if got, want := series(t, registry), samples("first", "second"); !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A program that makes informers again and again must not keep what each of them measured.
func TestAReleasedNameHasNoSeries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		release := run(t, registry, "first")
		defer run(t, registry, "second")()
		release()
		if got, want := series(t, registry), samples("second"); !slices.Equal(got, want) {
			t.Errorf("after a release: got %q, want %q", got, want)
		}
		defer run(t, registry, "first")() // another one has the name, and begins anew
		if got, want := series(t, registry), samples("first", "second"); !slices.Equal(got, want) {
			t.Errorf("after the name was taken again: got %q, want %q", got, want)
		}
	})
}

// The name is taken again before anybody has collected.
func TestANameThatIsTakenAgainBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		count := func() uint64 {
			families, err := registry.Gather()
			must.Do(t, err)
			for _, family := range families {
				if h := family.Metric[0].GetHistogram(); h != nil {
					return h.GetSampleCount()
				}
			}
			return 0
		}
		release := run(t, registry, "first")
		once := count()
		release()
		defer run(t, registry, "first")()
		if got := count(); got != once {
			t.Errorf("got %d samples of two informers, want %d of the second", got, once)
		}
	})
}
