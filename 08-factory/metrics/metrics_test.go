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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // one that says nothing
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	goleak.VerifyTestMain(m)
}

// A gate is a handler with a name, which waits for its gate to be open.
type gate struct {
	name string
	open chan struct{}
}

func newGate(name string) gate { return gate{name, make(chan struct{})} }

func (g gate) Name() string      { return g.name }
func (g gate) OnAdd(any, bool)   { <-g.open }
func (g gate) OnUpdate(_, _ any) { <-g.open }
func (g gate) OnDelete(any)      { <-g.open }

// A rig is an informer of ours on a fake server, and its metrics.
type rig struct {
	*informer.Informer
	*fakeapi.Server
	measured *Informer
}

func newRig(t testing.TB, options cache.SharedIndexInformerOptions, handlers ...cache.ResourceEventHandler) rig {
	server, measured := fakeapi.New(fakeapi.ConfigMap("a", "1")), New("maps")
	r := rig{informer.New(server, &corev1.ConfigMap{}, options), server, measured}
	must.Do(t, r.SetObserver(measured))
	for _, handler := range handlers {
		_, err := r.AddEventHandler(handler)
		must.Do(t, err)
	}
	return r
}

// wants wants these samples, without "informer_" and the informer's name.
func (r rig) wants(t *testing.T, samples ...string) {
	t.Helper()
	synctest.Wait()
	registry := prometheus.NewPedanticRegistry() // it compares what is collected with what is described
	registry.MustRegister(New("others"), r.measured)
	families, err := registry.Gather()
	must.Do(t, err)
	var text strings.Builder
	for _, family := range families {
		_, err := expfmt.MetricFamilyToText(&text, family)
		must.Do(t, err)
	}
	got := strings.NewReplacer("informer_", "", `{informer="maps"}`, "", `,informer="maps"`, "",
		`informer="maps",`, "").Replace(text.String())
	for _, sample := range samples {
		expect.That(t, strings.Contains(got, "\n"+sample+"\n"), "there is no %s in\n%s", sample, got)
	}
}

// wantsBacklog wants so many changes to wait for a handler, the oldest for so long.
func (r rig) wantsBacklog(t *testing.T, g gate, waiting int, age time.Duration) {
	t.Helper()
	r.wants(t, fmt.Sprintf("handler_backlog{handler=%q} %d", g.name, waiting),
		fmt.Sprintf("handler_backlog_age_seconds{handler=%q} %v", g.name, age.Seconds()))
}

func TestNamesAndHelp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cache.SharedIndexInformerOptions{}, cache.ResourceEventHandlerFuncs{})
		must.Run(t, r.RunWithContext)
		r.NextWatch()
		r.wants(t, `handler_backlog{handler="cache.ResourceEventHandlerFuncs"} 0`)
		if problems, err := testutil.CollectAndLint(r.measured); err != nil || len(problems) > 0 {
			t.Error(err, problems)
		}
	})
}

func TestTheReflector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cache.SharedIndexInformerOptions{})
		now := func() string {
			seconds := float64(time.Now().UnixMilli()) / 1000
			return "last_event_timestamp_seconds " + strconv.FormatFloat(seconds, 'g', -1, 64)
		}
		begun := now()
		r.Fail(errors.New("not today"))
		must.Run(t, r.RunWithContext)
		time.Sleep(100 * time.Millisecond)
		r.wants(t, `lists_total{result="error"} 1`, `lists_total{result="ok"} 0`, "objects 0", begun)
		r.Set(fakeapi.ConfigMap("a", "1"))
		w := r.NextWatch()
		r.wants(t, `lists_total{result="ok"} 1`, "objects 1", "resource_version 1", now())
		time.Sleep(time.Minute)
		w.Add(fakeapi.ConfigMap("b", "1000000000000002"))
		r.wants(t, "objects 2", "resource_version 2", now())
		time.Sleep(time.Minute)
		w.Action(watch.Bookmark, fakeapi.ConfigMap("", "7"))
		r.wants(t, "resource_version 7", now())
		w.Stop()
		w = r.NextWatch()
		r.wants(t, `watches_total{result="ok"} 1`, `lists_total{result="ok"} 1`)
		fakeapi.Expire(w)
		r.NextWatch()
		r.wants(t, `watches_total{result="expired"} 1`, `lists_total{result="ok"} 2`, "objects 1")
	})
}

// A transform refuses every list for an hour: none was stored, and the cache is stale.
func TestListsThatTheStoreRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, cache.SharedIndexInformerOptions{})
		must.Do(t, r.SetTransform(func(any) (any, error) { return nil, errors.New("not this one") }))
		r.Set(fakeapi.ConfigMap("a", "1"))
		begun := float64(time.Now().UnixMilli()) / 1000
		must.Run(t, r.RunWithContext)
		time.Sleep(time.Hour)
		synctest.Wait()
		r.wants(t, fmt.Sprintf(`lists_total{result="error"} %d`, r.Lists()), `lists_total{result="ok"} 0`, "objects 0",
			"resource_version 0", "last_event_timestamp_seconds "+strconv.FormatFloat(begun, 'g', -1, 64))
	})
}

func TestTheBacklog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow, late, quick := newGate("slow"), newGate("late"), newGate("quick")
		r := newRig(t, cache.SharedIndexInformerOptions{ResyncPeriod: time.Hour}, slow)
		_, err := r.AddEventHandlerWithResyncPeriod(quick, 0) // a resync is not for it
		must.Do(t, err)
		close(quick.open)
		must.Run(t, r.RunWithContext)
		w := r.NextWatch()
		time.Sleep(time.Minute)
		w.Add(fakeapi.ConfigMap("b", "2"))
		r.wantsBacklog(t, slow, 2, time.Minute)
		w.Modify(fakeapi.ConfigMap("b", "3"))
		synctest.Wait()
		registration, err := r.AddEventHandler(late) // it gets what the store holds
		must.Do(t, err)
		time.Sleep(time.Minute)
		r.wantsBacklog(t, slow, 3, 2*time.Minute)
		r.wantsBacklog(t, late, 2, time.Minute)
		slow.open <- struct{}{} // it returns from one call
		late.open <- struct{}{}
		r.wantsBacklog(t, slow, 2, time.Minute)
		r.wants(t, `handler_busy_seconds_total{handler="slow"} 120`, `handler_backlog{handler="late"} 1`)
		time.Sleep(time.Hour)
		r.wantsBacklog(t, slow, 2, time.Hour+time.Minute)
		r.wantsBacklog(t, quick, 0, 0)
		must.Do(t, r.RemoveEventHandler(registration))
		close(late.open)
		close(slow.open)
		r.wantsBacklog(t, slow, 0, 0)
		n := testutil.CollectAndCount(r.measured, "informer_handler_backlog")
		expect.That(t, n == 2, "%d handlers are measured: one was removed", n)
	})
}

// Handlers that are made in one function have one name. A quick one does not hide one that is stuck.
func TestHandlersOfOneName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, quick := newGate("mail"), newGate("mail")
		r := newRig(t, cache.SharedIndexInformerOptions{}, stuck, quick)
		close(quick.open)
		must.Run(t, r.RunWithContext)
		w := r.NextWatch()
		time.Sleep(time.Minute)
		w.Modify(fakeapi.ConfigMap("a", "2"))
		time.Sleep(time.Minute)
		w.Delete(fakeapi.ConfigMap("a", "2"))
		r.wantsBacklog(t, stuck, 3, 2*time.Minute)
		close(stuck.open)
		r.wantsBacklog(t, stuck, 0, 0)
	})
}

// Nor does one that is removed. What both have done goes on to count: a counter never falls.
func TestARemovedHandlerHidesNoOtherOfItsName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stuck, quick := newGate("mail"), newGate("mail")
		r := newRig(t, cache.SharedIndexInformerOptions{}, stuck)
		registration, err := r.AddEventHandler(quick)
		must.Do(t, err)
		close(quick.open)
		must.Run(t, r.RunWithContext)
		w := r.NextWatch()
		time.Sleep(time.Minute)
		for version := range 50 {
			w.Modify(fakeapi.ConfigMap("a", fmt.Sprint(version+2)))
		}
		r.wantsBacklog(t, stuck, 51, time.Minute)
		r.wants(t, `handler_calls_total{handler="mail"} 51`)
		must.Do(t, r.RemoveEventHandler(registration))
		r.wantsBacklog(t, stuck, 51, time.Minute)
		r.wants(t, `handler_calls_total{handler="mail"} 51`)
		close(stuck.open)
		r.wantsBacklog(t, stuck, 0, 0)
		r.wants(t, `handler_calls_total{handler="mail"} 102`)
	})
}

// What was folded into another change is not waited for.
func TestFolding(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := newGate("slow")
		r := newRig(t, cache.SharedIndexInformerOptions{}, slow)
		r.SetPatience(0)
		must.Run(t, r.RunWithContext)
		w := r.NextWatch()
		for version := range 300 { // the first chunk of the log holds 256
			w.Modify(fakeapi.ConfigMap("a", fmt.Sprint(version+2)))
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		h := r.measured.handlers["slow"]
		waiting, _ := h.waiting(time.Now())
		if folded := int(h.folded); folded == 0 || folded+waiting != 301 {
			t.Errorf("%d folded and %d waiting, want some of them and 301 together", folded, waiting)
		}
		r.wantsBacklog(t, slow, waiting, time.Minute)
		close(slow.open)
		r.wantsBacklog(t, slow, 0, 0)
	})
}

// Without an observer, nothing is made for one.
func TestAllocationsOfAnEvent(t *testing.T) {
	for measured, want := range map[*Informer]float64{nil: 1, New("maps"): 3} { // that one is the object's key
		got := testing.AllocsPerRun(1000, events(t, measured))
		expect.That(t, got == want, "%v allocations, want %v; measured: %t", got, want, measured != nil)
	}
}

func BenchmarkEvent(b *testing.B) {
	for name, measured := range map[string]*Informer{"off": nil, "on": New("maps")} {
		b.Run(name, func(b *testing.B) {
			for send := events(b, measured); b.Loop(); {
				send()
			}
		})
	}
}

// events returns what sends an event, and waits for the handler's call.
func events(t testing.TB, measured *Informer) func() {
	server, called := fakeapi.New(), make(chan struct{})
	i := informer.New(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if measured != nil {
		must.Do(t, i.SetObserver(measured))
	}
	_, err := i.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { called <- struct{}{} }, UpdateFunc: func(_, _ any) { called <- struct{}{} }})
	must.Do(t, err)
	must.Run(t, i.RunWithContext)
	w, objects := server.NextWatch(), []*corev1.ConfigMap{fakeapi.ConfigMap("a", "1"), fakeapi.ConfigMap("a", "2")}
	return func() {
		w.Modify(objects[0])
		<-called
		slices.Reverse(objects)
	}
}
