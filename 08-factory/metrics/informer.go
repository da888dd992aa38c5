// Package metrics measures informers for Prometheus: ours by what it reports to its
// observer, client-go's by what it can be asked for.
package metrics

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/meta"

	"example.com/informer/03-reflector/observer"
)

// An Informer measures one informer of ours. It is an observer, to be set before the
// informer is started, and a collector, to be registered. When the informer has ended,
// unregister it: it gets no events any more, and would look stale.
type Informer struct {
	name string

	mu       sync.Mutex
	listing  bool                  // what ends next is a list
	ends     map[[2]string]float64 // how many lists and watches ended, by result
	objects  int
	version  uint64
	last     time.Time // when the server has last sent something
	handlers map[string]*handler
}

// A handler is what is known of one, or of several that have the same name.
type handler struct {
	backlogs      map[any]*backlog // by registration
	calls, folded float64          // of those that were removed, too: a counter does not fall
	busy          time.Duration
}

// A backlog is that of one registration.
type backlog struct {
	waiting []time.Time // when each change came that the handler has not returned from; the oldest first
	present int         // of these, how many were in the store when it joined
}

// New returns what measures an informer. The name, such as "pods", is the label
// informer of all its metrics.
func New(name string) *Informer {
	return &Informer{name: name, last: time.Now(), ends: map[[2]string]float64{}, handlers: map[string]*handler{}}
}

// Observe implements observer.Observer.
func (i *Informer) Observe(e observer.Event) {
	i.mu.Lock()
	defer i.mu.Unlock()
	now := time.Now()
	_, name, _ := strings.Cut(e.Handler, " + event handler ") // before it is the informer's
	switch h := i.handlers[name]; e.Kind {
	case observer.Listing:
		i.listing = true
	case observer.Listed:
		i.ended("ok") // a list that comes over a watch is a list first, and then a watch
		i.received(e, now)
	case observer.Received, observer.Bookmark:
		i.received(e, now)
	case observer.Expired:
		i.ended("expired")
	case observer.Ended:
		i.ended(map[bool]string{true: "ok", false: "error"}[e.Err == nil])
	case observer.Stored:
		i.objects += map[string]int{"ADDED": 1, "DELETED": -1}[e.Type]
	case observer.Appended:
		i.appended(e, now)
	case observer.Joined:
		if h == nil {
			h = &handler{backlogs: map[any]*backlog{}}
			i.handlers[name] = h
		}
		h.backlogs[e.Registration] = &backlog{slices.Repeat([]time.Time{now}, i.objects), i.objects}
	case observer.Called, observer.Folded:
		if h != nil && h.backlogs[e.Registration] != nil { // or it was removed during the call
			h.did(e, now)
		}
	case observer.Removed:
		if delete(h.backlogs, e.Registration); len(h.backlogs) == 0 {
			delete(i.handlers, name)
		}
	}
}

func (i *Informer) ended(result string) {
	i.ends[[2]string{map[bool]string{true: "list", false: "watch"}[i.listing], result}]++
	i.listing = false
}

func (i *Informer) received(e observer.Event, now time.Time) {
	i.last = now
	if version, err := strconv.ParseUint(e.Version, 10, 64); err == nil {
		i.version = version % 1e15 // a float64 holds that exactly
	}
}

// isResync is true for what has not changed, and is not for all handlers.
func isResync(e observer.Event) bool {
	before, err := meta.Accessor(e.Old)
	if err != nil || e.Type != "MODIFIED" {
		return false
	}
	after, err := meta.Accessor(e.New)
	return err == nil && before.GetResourceVersion() == after.GetResourceVersion()
}

func (i *Informer) appended(e observer.Event, now time.Time) {
	if isResync(e) {
		return
	}
	for _, h := range i.handlers {
		for _, b := range h.backlogs {
			b.waiting = append(b.waiting, now)
		}
	}
}

func (h *handler) did(e observer.Event, now time.Time) {
	switch b := h.backlogs[e.Registration]; e.Kind {
	case observer.Folded: // the later changes into the earlier ones
		h.folded += float64(e.Count)
		b.waiting = b.waiting[:max(len(b.waiting)-e.Count, min(len(b.waiting), e.Waiting))]
	case observer.Called:
		h.calls++
		h.busy += e.Took
		if e.Initial && b.present > 0 {
			b.present--
		}
		if len(b.waiting) > 0 && !isResync(e) {
			b.waiting = b.waiting[1:]
		}
		// If nothing is left for it, what is here was folded away, or comes in a moment.
		for e.Waiting+b.present == 0 && len(b.waiting) > 0 && now.Sub(b.waiting[0]) > time.Second {
			b.waiting = b.waiting[1:]
		}
	}
}

// waiting is how many changes wait for one of the handlers, and since when the oldest does.
func (h *handler) waiting(now time.Time) (n int, since time.Time) {
	since = now
	for _, b := range h.backlogs {
		if n += len(b.waiting); len(b.waiting) > 0 && b.waiting[0].Before(since) {
			since = b.waiting[0]
		}
	}
	return n, since
}

// Describe implements prometheus.Collector.
func (i *Informer) Describe(out chan<- *prometheus.Desc) {
	example := New(i.name)
	example.handlers[""] = &handler{}
	for _, metric := range example.measured(time.Now()) {
		out <- metric.Desc()
	}
}

// Collect implements prometheus.Collector. The informer does not wait for it.
func (i *Informer) Collect(out chan<- prometheus.Metric) {
	for _, metric := range i.measured(time.Now()) {
		out <- metric
	}
}

func (i *Informer) measured(now time.Time) (all []prometheus.Metric) {
	i.mu.Lock()
	defer i.mu.Unlock()
	add := func(kind prometheus.ValueType, name, help string, value float64, label ...string) {
		names, values := label[:len(label)/2], label[len(label)/2:]
		desc := prometheus.NewDesc("informer_"+name, help, names, prometheus.Labels{"informer": i.name})
		all = append(all, prometheus.MustNewConstMetric(desc, kind, value, values...))
	}
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	for _, result := range []string{"ok", "expired", "error"} { // even if there was none: a rate begins at a zero
		add(counter, "lists_total", "Lists that have ended.", i.ends[[2]string{"list", result}], "result", result)
		add(counter, "watches_total", "Watches that have ended.", i.ends[[2]string{"watch", result}], "result", result)
	}
	add(gauge, "objects", "Objects in the store.", float64(i.objects))
	add(gauge, "resource_version", "The version that it has come to: the last 15 digits.", float64(i.version))
	add(gauge, "last_event_timestamp_seconds",
		"When a list was stored, an event or a bookmark came, or the measuring began.",
		float64(i.last.UnixMilli())/1000)
	for name, h := range i.handlers {
		waiting, since := h.waiting(now)
		add(gauge, "handler_backlog", "Changes that it has not returned from.", float64(waiting), "handler", name)
		add(gauge, "handler_backlog_age_seconds", "How long the oldest of these has waited.",
			now.Sub(since).Seconds(), "handler", name)
		add(counter, "handler_calls_total", "Calls that have returned.", h.calls, "handler", name)
		add(counter, "handler_busy_seconds_total", "The time of these calls.", h.busy.Seconds(), "handler", name)
		add(counter, "handler_folded_total", "Notifications that were folded into others.", h.folded, "handler", name)
	}
	return all
}
