// What client-go's informer measures of itself.

package metrics

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promauto"
	"k8s.io/client-go/tools/cache"
)

// ClientGo returns the InformerMetricsProvider for SharedIndexInformerOptions. Only an
// informer with an Identifier asks it. The metrics have the names of Kubernetes' own.
func ClientGo(registerer prometheus.Registerer) cache.InformerMetricsProvider {
	with, labels := promauto.With(registerer), []string{"name", "group", "version", "resource"}
	return provider{
		queued: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "informer_queued_items", Help: "Items in the queue before the store."}, labels),
		latency: with.NewHistogramVec(prometheus.HistogramOpts{
			Name: "informer_processing_latency_seconds", Help: "From the queue to the store."}, labels),
		version: with.NewGaugeVec(prometheus.GaugeOpts{
			Name: "informer_store_resource_version", Help: "The version of the store: its last 15 digits."}, labels),
	}
}

type provider struct {
	queued, version *prometheus.GaugeVec
	latency         *prometheus.HistogramVec
}

func (p provider) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return metric{id, p.queued.WithLabelValues(values(id)...).Set}
}

func (p provider) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return metric{id, p.latency.WithLabelValues(values(id)...).Observe}
}

func (p provider) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return metric{id, p.version.WithLabelValues(values(id)...).Set}
}

func values(id cache.InformerNameAndResource) []string {
	gvr := id.GroupVersionResource()
	return []string{id.Name(), gvr.Group, gvr.Version, gvr.Resource}
}

// A metric takes values until its name is released: then another informer may have it.
type metric struct {
	id   cache.InformerNameAndResource
	take func(float64)
}

func (m metric) Observe(value float64) {
	if m.id.Reserved() {
		m.take(value)
	}
}

func (m metric) Set(value float64) { m.Observe(value) }
