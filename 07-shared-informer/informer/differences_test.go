// Where ours differs from client-go's informer, on purpose.

package informer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// inFakeTime runs a test of ours.
func inFakeTime(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// The call counts as made, utilruntime's PanicHandlers are called, with the
// logger of the handler's options, and the next call follows a second later. The
// others do not notice. Client-go's does the same if ReallyCrash is off, but for
// one thing: its handler never has synced.
func TestAHandlerThatPanics(t *testing.T) {
	for name, wantDone := range map[string]bool{"client-go": false, "ours": true} {
		inFakeTime(t, func(t *testing.T) {
			var reported record.Lines
			whenPanicking(t, name == "ours", func(ctx context.Context, p any) {
				reported.Add("%v", p)
				klog.FromContext(ctx).Info("reported")
			})
			r := newRig(implementations[name], options(), configMap("a", "1"))
			var calls record.Lines
			start := time.Now()
			text := logged(t, func(logger klog.Logger) {
				recorder := record.Handler(&calls)
				panicking := r.handle(t, cache.ResourceEventHandlerDetailedFuncs{
					AddFunc:    func(obj any, first bool) { recorder.OnAdd(obj, first); panic("ouch") },
					UpdateFunc: func(oldObj, obj any) { recorder.OnUpdate(oldObj, obj); panic(fmt.Errorf("ouch")) },
					DeleteFunc: func(obj any) {
						calls.Add("after %v", time.Since(start))
						recorder.OnDelete(obj)
						panic("ouch")
					},
				}, cache.HandlerOptions{Logger: &logger})
				calm := r.recorder(t)
				r.run(t)
				wantSynced(t, name+", the one that panicked", wantDone, panicking)
				w := r.server.NextWatch()
				w.Modify(configMap("a", "2"))
				w.Delete(configMap("a", "3"))
				calm.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnDelete a 3")
				time.Sleep(time.Minute)
				calls.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "after 2s", "OnDelete a 3")
				r.stop()
			})
			reported.Want(t, "ouch", "ouch", "ouch")
			n := strings.Count(text, "reported")
			expect.That(t, n == 3, "%s: the handler's logger has %d lines, want 3:\n%s", name, n, text)
		})
	}
}

// whenPanicking has utilruntime call a function, and nothing else, and then
// crash or not, until the test is over.
func whenPanicking(t *testing.T, crash bool, report func(context.Context, any)) {
	handlers, crashed := utilruntime.PanicHandlers, utilruntime.ReallyCrash
	t.Cleanup(func() { utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, crashed })
	utilruntime.PanicHandlers, utilruntime.ReallyCrash = []func(context.Context, any){report}, crash
}

// panics names, in the environment, the informer whose handler panics in the
// program that this test then is.
const panics = "INFORMER_TEST_PANICS"

func panicInside(newInformer maker) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	informer := newInformer(fakeapi.New(configMap("a", "1")), &corev1.ConfigMap{}, options())
	called := make(chan struct{})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		close(called)
		panic("ouch")
	}})
	_, _ = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		<-called // what waits for a handler at the end is dropped
		time.AfterFunc(time.Second, cancel)
	}})
	informer.RunWithContext(ctx)
}

func TestAHandlerThatPanicsEndsAProgramOfClientGo(t *testing.T) {
	for name, wantDeath := range map[string]bool{"client-go": true, "ours": false} {
		program := exec.CommandContext(t.Context(), os.Args[0])
		program.Env = append(os.Environ(), panics+"="+name)
		if out, err := program.CombinedOutput(); (err != nil) != wantDeath || !strings.Contains(string(out), "ouch") {
			t.Errorf("%s: the program ended with %v, want an error: %t\n%s", name, err, wantDeath, out)
		}
	}
}

func TestNilIndexersAreNone(t *testing.T) {
	add := func(informer cache.SharedIndexInformer) (p any) {
		defer func() { p = recover() }()
		must.Do(t, informer.AddIndexers(cache.Indexers{"name": byName}))
		return nil
	}
	for name, want := range map[string]bool{"client-go": true, "ours": false} {
		informer := implementations[name](fakeapi.New(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
		p := add(informer)
		expect.That(t, (p != nil) == want, "%s: AddIndexers panics with %v, want a panic: %t", name, p, want)
	}
}

func TestTheCallersIndexersStayAsTheyAre(t *testing.T) {
	for name, want := range map[string][]string{"client-go": {"name", "version"}, "ours": {"name"}} {
		indexers := cache.Indexers{"name": byName}
		informer := implementations[name](fakeapi.New(), &corev1.ConfigMap{},
			cache.SharedIndexInformerOptions{Indexers: indexers})
		must.Do(t, informer.AddIndexers(cache.Indexers{"version": byVersion}))
		got := slices.Sorted(maps.Keys(indexers))
		expect.That(t, slices.Equal(got, want), "%s: the caller's indexers are %v now, want %v", name, got, want)
	}
}

func TestNoHandlerIsRefusedAtOnce(t *testing.T) {
	registration, err := newRig(ours, options()).AddEventHandler(nil)
	expect.That(t, registration == nil && err != nil && strings.Contains(err.Error(), "nil"),
		"AddEventHandler(nil) = %v, %v; want an error", registration, err)
}

// What waits is dropped: of three, one call is under way when the handler is
// removed, and the others are not made. (Client-go may make more.)
func TestWhatWaitsForARemovedHandlerIsDropped(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("a", "1"))
		var calls record.Lines
		busy := make(chan struct{})
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { calls.Add("called"); <-busy }})
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Add(configMap("c", "3"))
		calls.Want(t, "called")
		must.Do(t, r.RemoveEventHandler(registration))
		close(busy)
		calls.Want(t)
	})
}

// panicsOverBad is an index function.
func panicsOverBad(obj any) ([]string, error) {
	if obj.(*corev1.ConfigMap).Name == "bad" {
		panic("ouch")
	}
	return nil, nil
}

// runAndRecover runs the informer, and says what it panicked with.
func (r *rig) runAndRecover(ctx context.Context) <-chan any {
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		r.RunWithContext(ctx)
	}()
	synctest.Wait()
	return panicked
}

// An event that an index function panics over is reported and changes nothing,
// and all else goes on.
func TestAnEventThatAnIndexFunctionPanicsOverIsLeftOut(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"name": panicsOverBad}})
		c := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("bad", "2"))
		w.Add(configMap("good", "3"))
		c.Want(t, "OnAdd good 3")
		got := keys(r.GetStore())
		expect.That(t, slices.Equal(got, []string{"ns/good"}), "stored: %v", got)
		const want = `on index "name": the index function panicked: ouch`
		reported := strings.Join(handled.Take(), "\n")
		expect.That(t, strings.Contains(reported, want), "reported: %s", reported)
	})
}

// A list that an index function panics over is refused, and asked for again.
func TestAListThatAnIndexFunctionPanicsOverIsRefused(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"name": panicsOverBad}},
			configMap("bad", "1"), configMap("good", "2"))
		var problems record.Lines
		must.Do(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { problems.Add("%v", err) }))
		r.run(t)
		if got := problems.Take(); len(got) != 1 || !strings.Contains(got[0], "the index function panicked: ouch") {
			t.Errorf("the error handler gets %q", got)
		}
		expect.That(t, !r.HasSynced() && len(keys(r.GetStore())) <= 0,
			"HasSynced() = %t, stored: %v", r.HasSynced(), keys(r.GetStore()))
		r.server.Set(configMap("good", "2"))
		time.Sleep(2 * time.Second)
		if got := keys(r.GetStore()); !r.HasSynced() || !slices.Equal(got, []string{"ns/good"}) {
			t.Errorf("HasSynced() = %t, stored: %v", r.HasSynced(), got)
		}
	})
}

// RunWithContext has returned, and its reflector watches on, until the context
// ends.
func TestAfterAPanicOfAnIndexFunctionClientGosReflectorGoesOn(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		whenPanicking(t, true, func(context.Context, any) {})
		r := newRig(implementations["client-go"],
			cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"name": panicsOverBad}})
		ctx, cancel := context.WithCancel(t.Context())
		panicked := r.runAndRecover(ctx)
		w := r.server.NextWatch()
		w.Add(configMap("bad", "2"))
		if p := <-panicked; p != "ouch" || !r.IsStopped() {
			t.Errorf("RunWithContext panics with %v, IsStopped() = %t", p, r.IsStopped())
		}
		time.Sleep(time.Hour)
		expect.That(t, !w.IsStopped(), "its watch has ended")
		cancel()
		synctest.Wait()
		expect.That(t, w.IsStopped(), "its watch goes on")
	})
}

// The store is the informer's to write to. What a program writes there before
// the start, a handler of ours gets when it joins. The first call of a handler of
// client-go's is an update, or a delete.
func TestWhatAProgramPutsIntoTheStoreBeforeTheStart(t *testing.T) {
	for name, want := range map[string][]string{
		"client-go": {"OnDelete tombstone ns/gone of 1", "OnUpdate stays 2, was 1"},
		"ours": {"OnAdd gone 1 first", "OnAdd stays 1 first", "OnDelete tombstone ns/gone of 1",
			"OnUpdate stays 2, was 1"},
	} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("stays", "2"))
			for _, object := range []string{"gone", "stays"} {
				must.Do(t, r.GetIndexer().Add(configMap(object, "1")))
			}
			handler := r.recorder(t)
			r.run(t)
			handler.WantSorted(t, want...)
		})
	}
}

// No handler is told. The server's next event takes its place, or the next list. The event of
// a write whose answer was put there is no change any more: only handlers that are due get it.
func TestWhatAProgramPutsIntoTheStoreOfARunningInformer(t *testing.T) {
	forBoth(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Hour), configMap("a", "1"))
		handler := r.recorder(t, every(0))
		r.run(t)
		time.Sleep(time.Hour) // it is not due any more
		w := r.server.NextWatch()
		handler.Want(t, "OnAdd a 1 first")
		must.Do(t, errors.Join(r.GetStore().Add(configMap("mine", "2")), r.GetStore().Update(configMap("a", "2"))))
		w.Modify(configMap("a", "2"))
		handler.Want(t)
		w.Modify(configMap("a", "3"))
		handler.Want(t, "OnUpdate a 3, was 2")
		r.server.Set(configMap("a", "3"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		handler.Want(t, "OnDelete tombstone ns/mine of 2")
		expect.That(t, slices.Equal(keys(r.GetStore()), []string{"ns/a"}), "stored: %q", keys(r.GetStore()))
	})
}

// A list that lacks an object after the transform cannot be stored. Ours says so
// and asks again. Client-go's drops all of it without a word, and has synced: with
// an empty store, until the next list.
func TestATransformThatGivesNilForAnObjectOfAList(t *testing.T) {
	for name, want := range map[string]struct {
		synced bool
		lists  int
	}{"client-go": {true, 1}, "ours": {false, 2}} {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("a", "1"), configMap("b", "1"))
			must.Do(t, r.SetTransform(func(obj any) (any, error) {
				if obj.(*corev1.ConfigMap).Name == "b" {
					return nil, nil
				}
				return obj, nil
			}))
			handled.Take()
			handler := r.recorder(t)
			r.run(t)
			time.Sleep(1600 * time.Millisecond) // the first pause is over by then, the second is not
			if got := r.server.Lists(); r.HasSynced() != want.synced || got != want.lists {
				t.Errorf("%s: HasSynced() = %t after %d lists; want %v", name, r.HasSynced(), got, want)
			}
			handler.Want(t)
			got := keys(r.GetStore())
			expect.That(t, len(got) == 0, "%s: the store holds %v", name, got)
			reported := handled.Take()
			expect.That(t, (len(reported) == 0) == want.synced, "%s: reported was %q", name, reported)
		})
	}
}

// gauges counts which metrics an informer asks for, and how often it sets them.
type gauges struct{ record.Lines }

type gauge struct {
	lines *record.Lines
	name  string
}

func (g gauge) Set(float64)     { g.lines.Add("%s", g.name) }
func (g gauge) Observe(float64) { g.lines.Add("%s", g.name) }

func (g *gauges) NewQueuedItemMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{&g.Lines, "queued items"}
}

func (g *gauges) NewProcessingLatencyMetric(cache.InformerNameAndResource) cache.HistogramMetric {
	return gauge{&g.Lines, "processing latency"}
}

func (g *gauges) NewStoreResourceVersionMetric(cache.InformerNameAndResource) cache.GaugeMetric {
	return gauge{&g.Lines, "version of the store"}
}

// Ours has no queue, and so no metrics of one.
func TestMetrics(t *testing.T) {
	for name, want := range map[string][]string{
		"client-go": {"processing latency", "queued items", "version of the store"},
		"ours":      {"version of the store"},
	} {
		inFakeTime(t, func(t *testing.T) {
			informerName, err := cache.NewInformerName("TestMetrics")
			must.Do(t, err)
			defer informerName.Release()
			metrics := &gauges{}
			named := options()
			named.InformerMetricsProvider = metrics
			named.Identifier = informerName.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
			r := newRig(implementations[name], named, configMap("a", "1"))
			r.run(t)
			moved := metrics.Take()
			slices.Sort(moved)
			got := slices.Compact(moved)
			expect.That(t, slices.Equal(got, want), "%s: these metrics have moved: %q, want %q", name, got, want)
		})
	}
}

// 100,000 updates of an object while a handler is stuck. When it goes on, it gets
// one that leads far ahead from the state that it knows, and the few that were not
// folded yet.
func TestAStalledHandlerDoesNotGetEveryChange(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		r := newRig(ours, options(), configMap("first", "1"))
		calls, busy := &record.Lines{}, make(chan struct{})
		recorder := record.Handler(calls)
		registration := r.handle(t, cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, first bool) {
				recorder.OnAdd(obj, first)
				<-busy
			}, UpdateFunc: recorder.OnUpdate, DeleteFunc: recorder.OnDelete,
		})
		r.run(t)
		w := r.server.NextWatch()
		w.Modify(configMap("first", "2"))
		w.Add(configMap("short", "3"))
		for i := range 100_000 {
			w.Modify(configMap("first", version(i+4)))
		}
		w.Delete(configMap("short", "100004"))
		calls.Want(t, "OnAdd first 1 first")
		close(busy)
		wantSynced(t, "after its backlog", true, registration)
		got := calls.Take()
		if len(got) > 1000 || !strings.HasPrefix(got[0], "OnUpdate first ") ||
			!strings.HasSuffix(got[0], ", was 1") {
			t.Errorf("%d got, of which the first is %q", len(got), got[0])
		}
		if last := got[len(got)-1]; !slices.ContainsFunc(got[len(got)-2:], func(call string) bool {
			return strings.HasPrefix(call, "OnUpdate first 100003,")
		}) {
			t.Errorf("the last call is %q, want that first is at 100003", last)
		}
		expect.That(t, slices.Contains(got, "OnAdd short 3") == slices.Contains(got, "OnDelete short 100004"),
			"something was added, or deleted, and not both")
	})
}
