// Package alerts tests the alert rules of 08-factory/metrics with two parts of Prometheus: the
// parser of rule files and the query engine. The samples come from informers in fake time.
package alerts

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
	"github.com/prometheus/common/promslog"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/08-factory/metrics"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A minute is an event in the life of an informer. It gets the informer's server and its current
// watch, and returns the current watch after the event.
type minute func(*fakeapi.Server, *watch.FakeWatcher) *watch.FakeWatcher

func bookmark(_ *fakeapi.Server, w *watch.FakeWatcher) *watch.FakeWatcher {
	w.Action(watch.Bookmark, fakeapi.ConfigMap("", "2"))
	return w
}

func relist(server *fakeapi.Server, w *watch.FakeWatcher) *watch.FakeWatcher {
	fakeapi.Expire(w)
	return server.NextWatch()
}

func nothing(_ *fakeapi.Server, w *watch.FakeWatcher) *watch.FakeWatcher { return w }

// Each fault fires one alert, and a healthy informer fires none.
func TestAlerts(t *testing.T) {
	for name, test := range map[string]struct {
		minutes []minute // they repeat for an hour
		stuck   bool     // whether the handler never returns
		want    []string // the alerts
	}{
		"healthy":           {minutes: slices.Concat(slices.Repeat([]minute{bookmark}, 9), []minute{relist})},
		"a dead watch":      {minutes: []minute{nothing}, want: []string{"InformerStale"}},
		"a stuck handler":   {minutes: []minute{bookmark}, stuck: true, want: []string{"InformerHandlerStalled"}},
		"a loop of relists": {minutes: []minute{relist}, want: []string{"InformerRelisting"}},
	} {
		t.Run(name, func(t *testing.T) {
			h := history{series: map[string]*promql.Series{}}
			synctest.Test(t, func(t *testing.T) {
				registry, server, w := run(t, test.stuck)
				for n := range 60 {
					h.scrape(t, registry)
					w = test.minutes[n%len(test.minutes)](server, w)
					time.Sleep(time.Minute)
				}
			})
			if diff := cmp.Diff(test.want, h.alerts(t)); diff != "" {
				t.Errorf("the alerts differ (-want +got):\n%s", diff)
			}
		})
	}
}

// run runs an informer of one object. A stuck handler does not return before the end of the test.
func run(t *testing.T, stuck bool) (*prometheus.Registry, *fakeapi.Server, *watch.FakeWatcher) {
	server, measured := fakeapi.New(fakeapi.ConfigMap("a", "1")), metrics.New("maps")
	registry := prometheus.NewRegistry()
	registry.MustRegister(measured)
	i := informer.NewWithParts(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{}, parttwo.Parts)
	must.NoError(t, i.SetObserver(measured))
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		if stuck {
			<-t.Context().Done()
		}
	}})
	must.NoError(t, err)
	must.Run(t, i.RunWithContext)
	w := server.NextWatch()
	synctest.Wait()
	return registry, server, w
}

// A history has the samples that Prometheus would have scraped.
type history struct {
	times  []time.Time               // of the scrapes
	series map[string]*promql.Series // by metric name and labels
}

// scrape adds a sample of each metric.
func (h *history) scrape(t *testing.T, gatherer prometheus.Gatherer) {
	families, err := gatherer.Gather()
	must.NoError(t, err)
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{Timestamp: model.Now()}, families...)
	must.NoError(t, err)
	h.times = append(h.times, time.Now())
	for _, sample := range samples {
		key := sample.Metric.String()
		if h.series[key] == nil {
			values := map[string]string{}
			for name, value := range sample.Metric {
				values[string(name)] = string(value)
			}
			h.series[key] = &promql.Series{Metric: labels.FromMap(values)}
		}
		point := promql.FPoint{T: int64(sample.Timestamp), F: float64(sample.Value)}
		h.series[key].Floats = append(h.series[key].Floats, point)
	}
}

// alerts returns the alerts that fire at the time of any scrape.
func (h *history) alerts(t *testing.T) (fired []string) {
	rules := parser.NewParser(parser.Options{})
	file, errs := rulefmt.ParseFile("../../../08-factory/metrics/alerts.yml", false, model.UTF8Validation, rules,
		promslog.NewNopLogger())
	must.NoError(t, errors.Join(errs...))
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 1e6, Timeout: time.Minute, Parser: rules,
		LookbackDelta: 5 * time.Minute})
	for _, rule := range file.Groups[0].Rules {
		for _, at := range h.times {
			query, err := engine.NewInstantQuery(t.Context(), &storage.MockQueryable{MockQuerier: &storage.MockQuerier{
				SelectMockFunction: h.find}}, nil, rule.Expr, at)
			must.NoError(t, err)
			vector, err := query.Exec(t.Context()).Vector()
			must.NoError(t, err)
			if len(vector) > 0 && !slices.Contains(fired, rule.Alert) {
				fired = append(fired, rule.Alert)
			}
		}
	}
	return fired
}

// find returns the series that match. The engine calls it.
func (h *history) find(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
	found := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
	for _, series := range h.series {
		differs := func(m *labels.Matcher) bool { return !m.Matches(series.Metric.Get(m.Name)) }
		if !slices.ContainsFunc(matchers, differs) {
			found.series = append(found.series, promql.NewStorageSeries(*series))
		}
	}
	return found
}

// A seriesSet iterates over series. Its methods for errors and warnings are those of an empty set.
type seriesSet struct {
	storage.SeriesSet
	series []storage.Series
	next   int
}

// Next implements storage.SeriesSet.
func (s *seriesSet) Next() bool {
	s.next++
	return s.next <= len(s.series)
}

// At implements storage.SeriesSet.
func (s *seriesSet) At() storage.Series { return s.series[s.next-1] }

// The page about metrics has a row for each metric.
func TestTheTableOfMetrics(t *testing.T) {
	page, err := os.ReadFile("../../08-controllers-metrics.md")
	must.NoError(t, err)
	var want []string
	synctest.Test(t, func(t *testing.T) {
		registry, _, _ := run(t, false)
		families, err := registry.Gather()
		must.NoError(t, err)
		for _, f := range families {
			kind := strings.ToLower(f.GetType().String())
			want = append(want, fmt.Sprintf("| `%s` | %s | %s", f.GetName(), kind, f.GetHelp()))
		}
	})
	var got []string
	for _, line := range strings.Split(string(page), "\n") {
		if strings.HasPrefix(line, "| `informer_") && strings.Count(line, "|") == 4 {
			got = append(got, strings.TrimSuffix(line, " |"))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the rows of the page differ from the registry (-registry +page):\n%s", diff)
	}
}
