// The metrics that client-go's informer sets itself.

package metrics

import (
	"errors"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/client-go/tools/cache"
)

// ClientGo returns an InformerMetricsProvider for SharedIndexInformerOptions. Only an informer with
// an Identifier uses it. The metrics have the same names as those of Kubernetes' components. All
// informers of a registry share one provider: a second call returns the provider of the first.
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
		panic(err) // as MustRegister does: the registry has another metric of one of these names
	}
	return p
}

// A provider makes the metrics of informers. It collects only those of informers whose names are
// not released.
type provider struct {
	queued, version *prometheus.GaugeVec
	latency         *prometheus.HistogramVec

	mu  sync.Mutex
	ids map[cache.InformerNameAndResource]bool // the informers that have series
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

// deleteReleased deletes the series of informers whose names are released. client-go does not
// notify a provider of a release. Therefore each collection looks for released names.
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

// register notes that an informer has series, and returns the values of their labels. If an earlier
// informer had the same name, its series are deleted first.
func (p *provider) register(id cache.InformerNameAndResource) []string {
	p.deleteReleased()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ids[id] = true
	return values(id)
}

func (p *provider) NewQueuedItemMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return metric{id: id, take: p.queued.WithLabelValues(p.register(id)...).Set}
}

func (p *provider) NewProcessingLatencyMetric(id cache.InformerNameAndResource) cache.HistogramMetric {
	return metric{id: id, take: p.latency.WithLabelValues(p.register(id)...).Observe}
}

func (p *provider) NewStoreResourceVersionMetric(id cache.InformerNameAndResource) cache.GaugeMetric {
	return metric{id: id, take: p.version.WithLabelValues(p.register(id)...).Set}
}

// values returns the values of the labels of an informer's series.
func values(id cache.InformerNameAndResource) []string {
	gvr := id.GroupVersionResource()
	return []string{id.Name(), gvr.Group, gvr.Version, gvr.Resource}
}

// A metric sets values until the informer's name is released. From then on, another informer may
// have the name.
type metric struct {
	id   cache.InformerNameAndResource
	take func(float64) // sets the value of the series, or adds to it
}

// Observe implements cache.HistogramMetric.
func (m metric) Observe(value float64) {
	if m.id.Reserved() {
		m.take(value)
	}
}

// Set implements cache.GaugeMetric.
func (m metric) Set(value float64) { m.Observe(value) }
