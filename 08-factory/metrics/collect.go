// The metrics of an Informer, as Prometheus collects them.

package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Describe implements prometheus.Collector.
func (i *Informer) Describe(out chan<- *prometheus.Desc) {
	example := New(i.name)
	example.handlers[""] = &handler{} // without a handler there would be no metrics of handlers
	for _, metric := range example.collect(time.Now()) {
		out <- metric.Desc()
	}
}

// Collect implements prometheus.Collector. The informer does not wait while Prometheus reads the
// metrics.
func (i *Informer) Collect(out chan<- prometheus.Metric) {
	for _, metric := range i.collect(time.Now()) {
		out <- metric
	}
}

// collect returns all metrics with their values at this moment.
func (i *Informer) collect(now time.Time) []prometheus.Metric {
	i.mu.Lock()
	defer i.mu.Unlock()
	all := metricList{informer: i.name}
	for _, result := range []string{resultOK, resultExpired, resultError} { // zeros, too: a rate has to begin at zero
		byResult := label{"result", result}
		all.counter("lists_total", "Lists that have ended.", float64(i.ends[end{"list", result}]), byResult)
		all.counter("watches_total", "Watches that have ended.", float64(i.ends[end{"watch", result}]), byResult)
	}
	all.gauge("objects", "Objects in the store.", float64(i.objects))
	all.gauge("resource_version", "The version that it has come to: the last 15 digits.", float64(i.version))
	all.gauge("last_event_timestamp_seconds",
		"When a list was stored, an event or a bookmark came, or the measuring began.",
		float64(i.last.UnixMilli())/1000)
	for name, h := range i.handlers {
		byHandler := label{"handler", name}
		waiting, oldest := h.waiting(now)
		all.gauge("handler_backlog", "Changes that it has not returned from.", float64(waiting), byHandler)
		all.gauge("handler_backlog_age_seconds", "How long the oldest of these has waited.",
			now.Sub(oldest).Seconds(), byHandler)
		all.counter("handler_calls_total", "Calls that have returned.", float64(h.calls), byHandler)
		all.counter("handler_busy_seconds_total", "The time of these calls.", h.busy.Seconds(), byHandler)
		all.counter("handler_folded_total", "Notifications that were folded into others.", float64(h.folded), byHandler)
	}
	return all.metrics
}

// A metricList collects the metrics of one informer.
type metricList struct {
	informer string // the label that all metrics have
	metrics  []prometheus.Metric
}

// A label is a label of a metric, besides informer.
type label struct{ name, value string }

func (l *metricList) counter(name, help string, value float64, labels ...label) {
	l.add(prometheus.CounterValue, name, help, value, labels)
}

func (l *metricList) gauge(name, help string, value float64, labels ...label) {
	l.add(prometheus.GaugeValue, name, help, value, labels)
}

func (l *metricList) add(kind prometheus.ValueType, name, help string, value float64, labels []label) {
	var names, values []string
	for _, label := range labels {
		names = append(names, label.name)
		values = append(values, label.value)
	}
	desc := prometheus.NewDesc("informer_"+name, help, names, prometheus.Labels{"informer": l.informer})
	l.metrics = append(l.metrics, prometheus.MustNewConstMetric(desc, kind, value, values...))
}
