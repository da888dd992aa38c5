// What client-go's informer measures of itself.

package metrics

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"
)

// ClientGo returns the InformerMetricsProvider for SharedIndexInformerOptions. Only an
// informer with an Identifier asks it. The metrics have the names of Kubernetes' own. All
// informers of a registry share one provider, however often it is asked for.
func ClientGo(registerer prometheus.Registerer) cache.InformerMetricsProvider {
	labels := []string{"name", "group", "version", "resource"}
	p := &provider{
		queued: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "informer_queued_items", Help: "Items in the queue before the store."}, labels),
		latency: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "informer_processing_latency_seconds", Help: "From the queue to the store."}, labels),
		version: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "informer_store_resource_version", Help: "The version of the store: its last 15 digits."}, labels),
		ids: map[cache.InformerNameAndResource]bool{},
	}
	err := registerer.Register(p)
	if already := (prometheus.AlreadyRegisteredError{}); errors.As(err, &already) {
		if first, ok := already.ExistingCollector.(*provider); ok {
			return first
		}
	}
	if err != nil {
		panic(err) // as MustRegister does: somebody else has a metric of one of these names
	}
	return p
}

// A provider makes metrics, and collects those of names that are not released.
type provider struct {
	queued, version *prometheus.GaugeVec
	latency         *prometheus.HistogramVec

	mu  sync.Mutex
	ids map[cache.InformerNameAndResource]bool // that there are series of
}

// Describe implements prometheus.Collector.
func (p *provider) Describe(out chan<- *prometheus.Desc) {
	p.queued.Describe(out)
	p.latency.Describe(out)
	p.version.Describe(out)
}

// Collect implements prometheus.Collector.
func (p *provider) Collect(out chan<- prometheus.Metric) {
	p.deleteReleased()
	p.queued.Collect(out)
	p.latency.Collect(out)
	p.version.Collect(out)
}

// deleteReleased deletes the series of names that are released: nobody says when one is.
func (p *provider) deleteReleased() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for id := range p.ids {
		if !id.Reserved() {
			delete(p.ids, id)
			p.queued.DeleteLabelValues(values(id)...)
			p.latency.DeleteLabelValues(values(id)...)
			p.version.DeleteLabelValues(values(id)...)
		}
	}
}

// labelsOf are the values of the labels for an informer. Its series begin anew if another
// informer had its name before.
func (p *provider) labelsOf(id cache.InformerNameAndResource) []string {
	p.deleteReleased()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
	return values(id)
}

func (p *provider) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return metric{id, p.queued.WithLabelValues(p.labelsOf(id)...).Set}
}

func (p *provider) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return metric{id, p.latency.WithLabelValues(p.labelsOf(id)...).Observe}
}

func (p *provider) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return metric{id, p.version.WithLabelValues(p.labelsOf(id)...).Set}
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
