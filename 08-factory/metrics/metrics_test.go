package metrics

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/prometheus/common/expfmt"
	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // this logger writes nothing
	// The second error handler limits the rate of errors. The clock of a synctest bubble is years
	// behind, so that this handler would wait for years.
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	goleak.VerifyTestMain(m)
}

// A gateHandler is a handler with a name. Each call returns when something comes from the channel
// open, or when the channel is closed.
type gateHandler struct {
	name string
	open chan struct{}
}

func newGateHandler(name string) gateHandler {
	return gateHandler{name: name, open: make(chan struct{})}
}

func (g gateHandler) Name() string      { return g.name }
func (g gateHandler) OnAdd(any, bool)   { <-g.open }
func (g gateHandler) OnUpdate(_, _ any) { <-g.open }
func (g gateHandler) OnDelete(any)      { <-g.open }

// A fixture is an informer of ours on a fake server, with its metrics.
type fixture struct {
	*informer.Informer
	*fakeapi.Server
	metrics *Informer
}

func newFixture(t testing.TB, options cache.SharedIndexInformerOptions,
	handlers ...cache.ResourceEventHandler) fixture {
	t.Helper()
	server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
	made := informer.NewWithParts(server, &corev1.ConfigMap{}, options, parttwo.Parts)
	f := fixture{Informer: made, Server: server, metrics: New("maps")}
	must.NoError(t, f.SetObserver(f.metrics))
	for _, handler := range handlers {
		_, err := f.AddEventHandler(handler)
		must.NoError(t, err)
	}
	return f
}

// wantSamples checks that the metrics have these samples, which are written without "informer_" and
// the informer's name.
func (f fixture) wantSamples(t *testing.T, samples ...string) {
	t.Helper()
	synctest.Wait()
	registry := prometheus.NewPedanticRegistry() // compares the result of Collect with that of Describe
	registry.MustRegister(New("others"), f.metrics)
	families, err := registry.Gather()
	must.NoError(t, err)
	var text strings.Builder
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&text, family)
		must.NoError(t, err)
	}
	got := strings.NewReplacer("informer_", "", `{informer="maps"}`, "", `,informer="maps"`, "",
		`informer="maps",`, "").Replace(text.String())
	for _, sample := range samples {
		if !strings.Contains(got, "\n"+sample+"\n") {
			t.Errorf("the metrics lack the sample %s:\n%s", sample, got)
		}
	}
}

// wantBacklog checks how many changes wait for a handler, and how long the oldest has waited.
func (f fixture) wantBacklog(t *testing.T, g gateHandler, waiting int, age time.Duration) {
	t.Helper()
	f.wantSamples(t, fmt.Sprintf("handler_backlog{handler=%q} %d", g.name, waiting),
		fmt.Sprintf("handler_backlog_age_seconds{handler=%q} %v", g.name, age.Seconds()))
}

func TestNamesAndHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, cache.SharedIndexInformerOptions{}, cache.ResourceEventHandlerFuncs{})
		must.Run(t, f.RunWithContext)
		f.NextWatch()
		f.wantSamples(t, `handler_backlog{handler="cache.ResourceEventHandlerFuncs"} 0`)
		if problems, err := testutil.CollectAndLint(f.metrics); err != nil || len(problems) > 0 {
			t.Errorf("CollectAndLint() = %v, %v; want no problems, nil", problems, err)
		}
	})
}

// lastEventNow is the sample of an informer whose last event came just now.
func lastEventNow() string {
	seconds := float64(time.Now().UnixMilli()) / 1000
	return "last_event_timestamp_seconds " + strconv.FormatFloat(seconds, 'g', -1, 64)
}

func TestTheReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, cache.SharedIndexInformerOptions{})
		begun := lastEventNow()
		f.Fail(errors.New("not today"))
		must.Run(t, f.RunWithContext)
		time.Sleep(100 * time.Millisecond)
		f.wantSamples(t, `lists_total{result="error"} 1`, `lists_total{result="ok"} 0`, "objects 0", begun)
		f.Set(fakeapi.ConfigMap("a", "1"))
		w := f.NextWatch()
		f.wantSamples(t, `lists_total{result="ok"} 1`, "objects 1", "resource_version 1", lastEventNow())
		time.Sleep(time.Minute)
		w.Add(fakeapi.ConfigMap("b", "1000000000000002"))
		f.wantSamples(t, "objects 2", "resource_version 2", lastEventNow())
		time.Sleep(time.Minute)
		w.Action(watch.Bookmark, fakeapi.ConfigMap("", "7"))
		f.wantSamples(t, "resource_version 7", lastEventNow())
		w.Stop()
		w = f.NextWatch()
		f.wantSamples(t, `watches_total{result="ok"} 1`, `lists_total{result="ok"} 1`)
		fakeapi.Expire(w)
		f.NextWatch()
		f.wantSamples(t, `watches_total{result="expired"} 1`, `lists_total{result="ok"} 2`, "objects 1")
	})
}

// A transform fails for an hour. The store accepts no list, and the cache is stale.
func TestListsThatTheStoreRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, cache.SharedIndexInformerOptions{})
		must.NoError(t, f.SetTransform(func(any) (any, error) { return nil, errors.New("not this one") }))
		f.Set(fakeapi.ConfigMap("a", "1"))
		begun := lastEventNow()
		must.Run(t, f.RunWithContext)
		time.Sleep(time.Hour)
		synctest.Wait()
		f.wantSamples(t, fmt.Sprintf(`lists_total{result="error"} %d`, f.Lists()), `lists_total{result="ok"} 0`,
			"objects 0", "resource_version 0", begun)
	})
}

func TestTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, late, quick := newGateHandler("slow"), newGateHandler("late"), newGateHandler("quick")
		f := newFixture(t, cache.SharedIndexInformerOptions{ResyncPeriod: time.Hour}, slow)
		_, err := f.AddEventHandlerWithResyncPeriod(quick, 0) // this handler gets no resyncs
		must.NoError(t, err)
		close(quick.open)
		must.Run(t, f.RunWithContext)
		w := f.NextWatch()
		time.Sleep(time.Minute)
		w.Add(fakeapi.ConfigMap("b", "2"))
		f.wantBacklog(t, slow, 2, time.Minute)
		w.Modify(fakeapi.ConfigMap("b", "3"))
		synctest.Wait()
		registration, err := f.AddEventHandler(late) // this handler first gets the objects of the store
		must.NoError(t, err)
		time.Sleep(time.Minute)
		f.wantBacklog(t, slow, 3, 2*time.Minute)
		f.wantBacklog(t, late, 2, time.Minute)
		slow.open <- struct{}{} // the handler returns from one call
		late.open <- struct{}{}
		f.wantBacklog(t, slow, 2, time.Minute)
		f.wantSamples(t, `handler_busy_seconds_total{handler="slow"} 120`, `handler_backlog{handler="late"} 1`)
		time.Sleep(time.Hour)
		f.wantBacklog(t, slow, 2, time.Hour+time.Minute)
		f.wantBacklog(t, quick, 0, 0)
		must.NoError(t, f.RemoveEventHandler(registration))
		close(late.open)
		close(slow.open)
		f.wantBacklog(t, slow, 0, 0)
		if n := testutil.CollectAndCount(f.metrics, "informer_handler_backlog"); n != 2 {
			t.Errorf("%d handlers have metrics, want 2: the third was removed", n)
		}
	})
}

// Handlers that one function has made have the same name. A quick handler does not hide a stuck
// handler of its name.
func TestHandlersOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, quick := newGateHandler("mail"), newGateHandler("mail")
		f := newFixture(t, cache.SharedIndexInformerOptions{}, stuck, quick)
		close(quick.open)
		must.Run(t, f.RunWithContext)
		w := f.NextWatch()
		time.Sleep(time.Minute)
		w.Modify(fakeapi.ConfigMap("a", "2"))
		time.Sleep(time.Minute)
		w.Delete(fakeapi.ConfigMap("a", "2"))
		f.wantBacklog(t, stuck, 3, 2*time.Minute)
		close(stuck.open)
		f.wantBacklog(t, stuck, 0, 0)
	})
}

// A removed handler does not hide a stuck handler of its name. The counters include the removed
// handler: they never fall.
func TestARemovedHandlerHidesNoOtherOfItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, quick := newGateHandler("mail"), newGateHandler("mail")
		f := newFixture(t, cache.SharedIndexInformerOptions{}, stuck)
		registration, err := f.AddEventHandler(quick)
		must.NoError(t, err)
		close(quick.open)
		must.Run(t, f.RunWithContext)
		w := f.NextWatch()
		time.Sleep(time.Minute)
		for version := range 50 {
			w.Modify(fakeapi.ConfigMap("a", fmt.Sprint(version+2)))
		}
		f.wantBacklog(t, stuck, 51, time.Minute)
		f.wantSamples(t, `handler_calls_total{handler="mail"} 51`)
		must.NoError(t, f.RemoveEventHandler(registration))
		f.wantBacklog(t, stuck, 51, time.Minute)
		f.wantSamples(t, `handler_calls_total{handler="mail"} 51`)
		close(stuck.open)
		f.wantBacklog(t, stuck, 0, 0)
		f.wantSamples(t, `handler_calls_total{handler="mail"} 102`)
	})
}

// A change that was folded into another one does not count as waiting.
func TestFolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newGateHandler("slow")
		f := newFixture(t, cache.SharedIndexInformerOptions{}, slow)
		f.SetPatience(0)
		must.Run(t, f.RunWithContext)
		w := f.NextWatch()
		for version := range 300 { // more than the 256 of the first chunk
			w.Modify(fakeapi.ConfigMap("a", fmt.Sprint(version+2)))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		h := f.metrics.handlers["slow"]
		waiting, _ := h.waiting(time.Now())
		if h.folded == 0 {
			t.Error("0 notifications were folded, want some")
		}
		if h.folded+waiting != 301 {
			t.Errorf("%d notifications were folded and %d wait, want 301 together", h.folded, waiting)
		}
		f.wantBacklog(t, slow, waiting, time.Minute)
		close(slow.open)
		f.wantBacklog(t, slow, 0, 0)
	})
}

// Without metrics, an event needs one allocation: the object's key.
func TestAllocationsOfAnEvent(t *testing.T) {
	for _, test := range []struct {
		name    string
		metrics *Informer
		want    float64
	}{
		{name: "without metrics", metrics: nil, want: 1},
		{name: "with metrics", metrics: New("maps"), want: 7},
	} {
		if got := testing.AllocsPerRun(1000, newEventSender(t, test.metrics)); got != test.want {
			t.Errorf("%s: %v allocations for an event, want %v", test.name, got, test.want)
		}
	}
}

func BenchmarkEvent(b *testing.B) {
	for name, metrics := range map[string]*Informer{"off": nil, "on": New("maps")} {
		b.Run(name, func(b *testing.B) {
			for send := newEventSender(b, metrics); b.Loop(); {
				send()
			}
		})
	}
}

// newEventSender runs an informer. The function that it returns sends an event, and waits for the
// call of the handler.
func newEventSender(t testing.TB, metrics *Informer) func() {
	t.Helper()
	server, called := fakeapi.New(), make(chan struct{})
	i := informer.NewWithParts(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{}, parttwo.Parts)
	if metrics != nil {
		must.NoError(t, i.SetObserver(metrics))
	}
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { called <- struct{}{} },
		UpdateFunc: func(_, _ any) { called <- struct{}{} },
	})
	must.NoError(t, err)
	must.Run(t, i.RunWithContext)
	w := server.NextWatch()
	objects := []*corev1.ConfigMap{fakeapi.ConfigMap("a", "1"), fakeapi.ConfigMap("a", "2")}
	return func() {
		w.Modify(objects[0])
		<-called
		slices.Reverse(objects)
	}
}
