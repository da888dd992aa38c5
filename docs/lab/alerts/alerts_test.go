// Package alerts tests the alert rules of 08-factory/metrics. The samples come from informers in fake
// time.
package alerts

import (
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
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/yaml"

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
			var history []scrape
			synctest.Test(t, func(t *testing.T) {
				registry, server, w := run(t, test.stuck)
				for n := range 60 {
					history = append(history, scrapeFrom(t, registry))
					w = test.minutes[n%len(test.minutes)](server, w)
					time.Sleep(time.Minute)
				}
			})
			if diff := cmp.Diff(test.want, alerts(t, history)); diff != "" {
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

// rules has the expressions of alerts.yml, written in Go. A history has a scrape for each minute.
var rules = map[string]func(history []scrape) bool{
	"time() - informer_last_event_timestamp_seconds > 300": func(history []scrape) bool {
		last := history[len(history)-1]
		return last.time-last.sums["informer_last_event_timestamp_seconds"] > 300
	},
	"informer_handler_backlog_age_seconds > 120": func(history []scrape) bool {
		return history[len(history)-1].sums["informer_handler_backlog_age_seconds"] > 120
	},
	"sum by (informer) (increase(informer_lists_total[15m])) > 10": func(history []scrape) bool {
		const lists = "informer_lists_total"
		before := history[max(0, len(history)-1-15)]
		return history[len(history)-1].sums[lists]-before.sums[lists] > 10
	},
}

// A scrape has the metrics at one time. The informer has one handler, so a metric has one sample, or
// one for each result.
type scrape struct {
	time float64
	sums map[string]float64 // by the name of the metric
}

func scrapeFrom(t *testing.T, gatherer prometheus.Gatherer) scrape {
	families, err := gatherer.Gather()
	must.NoError(t, err)
	samples, err := expfmt.ExtractSamples(&expfmt.DecodeOptions{}, families...)
	must.NoError(t, err)
	s := scrape{time: float64(time.Now().Unix()), sums: map[string]float64{}}
	for _, sample := range samples {
		s.sums[string(sample.Metric[model.MetricNameLabel])] += float64(sample.Value)
	}
	return s
}

// alerts returns the alerts of alerts.yml that fire at any time of a history.
func alerts(t *testing.T, history []scrape) (fired []string) {
	text, err := os.ReadFile("../../../08-factory/metrics/alerts.yml")
	must.NoError(t, err)
	var file struct {
		Groups []struct {
			Rules []struct{ Alert, Expr string }
		}
	}
	must.NoError(t, yaml.Unmarshal(text, &file))
	for _, rule := range file.Groups[0].Rules {
		fires := rules[rule.Expr]
		if fires == nil {
			t.Fatalf("%s: write the expression %q in Go", rule.Alert, rule.Expr)
		}
		for n := range history {
			if fires(history[:n+1]) {
				fired = append(fired, rule.Alert)
				break
			}
		}
	}
	return fired
}

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
