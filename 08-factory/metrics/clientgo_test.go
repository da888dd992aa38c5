package metrics

import (
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
