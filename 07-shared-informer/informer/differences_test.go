// Tests of the intended differences between our informer and client-go's.

package informer_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// inFakeTime runs a test in fake time.
func inFakeTime(t *testing.T, test func(t *testing.T)) { synctest.Test(t, test) }

// A call that panics counts as made. utilruntime's PanicHandlers are called, with the logger of the
// handler's options. The next call follows a second later. The other handlers do not notice.
// client-go's informer does the same if ReallyCrash is off, with one difference: its handler never
// syncs.
func TestAHandlerThatPanics(t *testing.T) {
	for name, syncs := range each(map[string]bool{"client-go": false, "ours": true}) {
		inFakeTime(t, func(t *testing.T) {
			var reported record.Lines
			whenPanicking(t, name != "client-go", func(ctx context.Context, p any) {
				reported.Add("%v", p)
				klog.FromContext(ctx).Info("reported")
			})
			r := newRig(implementations[name], options(), configMap("a", "1"))
			var calls record.Lines
			start := time.Now()
			text := logged(t, func(logger klog.Logger) {
				recorder := record.Handler(&calls)
				panicking := r.handle(t, cache.ResourceEventHandlerDetailedFuncs{
					AddFunc: func(obj any, first bool) {
						recorder.OnAdd(obj, first)
						panic("ouch")
					},
					UpdateFunc: func(oldObj, obj any) {
						recorder.OnUpdate(oldObj, obj)
						panic(errors.New("ouch"))
					},
					DeleteFunc: func(obj any) {
						calls.Add("after %v", time.Since(start))
						recorder.OnDelete(obj)
						panic("ouch")
					},
				}, cache.HandlerOptions{Logger: &logger})
				calm := r.recorder(t)
				r.run(t)
				wantSynced(t, name+", the handler that panicked", syncs, panicking)
				w := r.server.NextWatch()
				w.Modify(configMap("a", "2"))
				w.Delete(configMap("a", "3"))
				calm.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnDelete a 3")
				time.Sleep(time.Minute)
				calls.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "after 2s", "OnDelete a 3")
				r.stop()
			})
			reported.Want(t, "ouch", "ouch", "ouch")
			if n := strings.Count(text, "reported"); n != 3 {
				t.Errorf("%s: the handler's logger has %d lines of the PanicHandler, want 3:\n%s", name, n, text)
			}
		})
	}
}

// whenPanicking replaces utilruntime's PanicHandlers by one function, and sets ReallyCrash, until
// the test is over.
func whenPanicking(t *testing.T, crash bool, report func(context.Context, any)) {
	handlers, crashed := utilruntime.PanicHandlers, utilruntime.ReallyCrash
	t.Cleanup(func() { utilruntime.PanicHandlers, utilruntime.ReallyCrash = handlers, crashed })
	utilruntime.PanicHandlers, utilruntime.ReallyCrash = []func(context.Context, any){report}, crash
}

// panicInside runs an informer whose handler panics.
func panicInside(newInformer maker) {
	klog.ClearLogger() // log it
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	shared := newInformer(fakeapi.New(configMap("a", "1")), &corev1.ConfigMap{}, options())
	called := make(chan struct{})
	_, _ = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		close(called)
		panic("ouch")
	}})
	_, _ = shared.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		<-called // the end drops the notifications that wait: first the other handler must be called
		time.AfterFunc(time.Second, cancel)
	}})
	shared.RunWithContext(ctx)
}

func TestAHandlerThatPanicsEndsAProgramOfClientGo(t *testing.T) {
	const inside = "INFORMER_TEST_PANICS"
	for name, crashes := range each(map[string]bool{"client-go": true, "ours": false}) {
		t.Run(name, func(t *testing.T) {
			if os.Getenv(inside) != "" {
				panicInside(implementations[name])
				return
			}
			out, err := must.RunInSubprocess(t, t.Name(), inside+"=yes")
			if crashed := err != nil; crashed != crashes {
				t.Errorf("the program ended with error %v, crashed = %t; want %t\n%s", err, crashed, crashes, out)
			}
			if !strings.Contains(out, "ouch") {
				t.Errorf("the output does not contain the panic %q:\n%s", "ouch", out)
			}
		})
	}
}

func TestNoHandlerIsRefusedAtOnce(t *testing.T) {
	registration, err := newRig(partOne, options()).AddEventHandler(nil)
	if registration != nil || err == nil || !strings.Contains(err.Error(), "nil") {
		t.Errorf("AddEventHandler(nil) = %v, %v; want nil and an error that contains %q", registration, err, "nil")
	}
}

// Of three calls, one is running when the handler is removed. The others are not made.
// (client-go's informer may make more calls.)
func TestWhatWaitsForARemovedHandlerIsDropped(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		var calls record.Lines
		busy := make(chan struct{})
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
			calls.Add("called")
			<-busy
		}})
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		w.Add(configMap("c", "3"))
		calls.Want(t, "called")
		must.NoError(t, r.RemoveEventHandler(registration))
		close(busy)
		calls.Want(t)
	})
}

// panicsOverBad is an index function that panics for the ConfigMap bad.
func panicsOverBad(obj any) ([]string, error) {
	if obj.(*corev1.ConfigMap).Name == "bad" {
		panic("ouch")
	}
	return nil, nil
}

// runAndRecover runs the informer in a goroutine. The channel gets the value of its panic, or nil.
func (r *rig) runAndRecover(ctx context.Context) <-chan any {
	panicked := make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		r.RunWithContext(ctx)
	}()
	synctest.Wait()
	return panicked
}

// The informer reports an event that an index function panics over, leaves it out, and goes on.
func TestAnEventThatAnIndexFunctionPanicsOverIsLeftOut(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"name": panicsOverBad}})
		c := r.recorder(t)
		r.run(t)
		w := r.server.NextWatch()
		w.Add(configMap("bad", "2"))
		w.Add(configMap("good", "3"))
		c.Want(t, "OnAdd good 3")
		if got, want := keys(r.GetStore()), []string{"ns/good"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
		const want = `on index "name": the index function panicked: ouch`
		if reported := strings.Join(handled.Take(), "\n"); !strings.Contains(reported, want) {
			t.Errorf("the error handlers got %q, want a text that contains %q", reported, want)
		}
	})
}

// The informer refuses a list that an index function panics over, and lists again.
func TestAListThatAnIndexFunctionPanicsOverIsRefused(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"name": panicsOverBad}},
			configMap("bad", "1"), configMap("good", "2"))
		var problems record.Lines
		must.NoError(t, r.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { problems.Add("%v", err) }))
		handler := r.recorder(t)
		r.run(t)
		const want = "the index function panicked: ouch"
		if got := problems.Take(); len(got) != 1 || !strings.Contains(got[0], want) {
			t.Errorf("the watch error handler got %q, want one error that contains %q", got, want)
		}
		wantSynced(t, "after a list that was refused", false, r, handler)
		handler.Want(t)
		if got := keys(r.GetStore()); len(got) != 0 {
			t.Errorf("ListKeys() = %q after a list that was refused, want none", got)
		}
		r.server.Set(configMap("good", "2"))
		time.Sleep(2 * time.Second)
		wantSynced(t, "after the next list", true, r, handler)
		handler.Want(t, "OnAdd good 2 first")
		if got, want := keys(r.GetStore()), []string{"ns/good"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q after the next list, want %q", got, want)
		}
	})
}

// RunWithContext has returned, but the reflector goes on until the context ends.
func TestAfterAPanicOfAnIndexFunctionClientGosReflectorGoesOn(t *testing.T) {
	inFakeTime(t, func(t *testing.T) {
		whenPanicking(t, true, func(context.Context, any) {})
		r := newRig(implementations["client-go"],
			cache.SharedIndexInformerOptions{Indexers: cache.Indexers{"name": panicsOverBad}})
		ctx, cancel := context.WithCancel(t.Context())
		panicked := r.runAndRecover(ctx)
		w := r.server.NextWatch()
		w.Add(configMap("bad", "2"))
		if p := <-panicked; p != "ouch" {
			t.Errorf("RunWithContext panicked with %v, want ouch", p)
		}
		if !r.IsStopped() {
			t.Error("IsStopped() = false, want true")
		}
		time.Sleep(time.Hour)
		if w.IsStopped() {
			t.Error("IsStopped() = true for the watch before the end of the context, want false")
		}
		cancel()
		synctest.Wait()
		if !w.IsStopped() {
			t.Error("IsStopped() = false for the watch after the end of the context, want true")
		}
	})
}

// Only the informer should write to its store. If a program writes an object to it before the
// start, a handler of our informer gets that object when it joins. The first call of a handler of
// client-go's informer is an update or a delete.
func TestWhatAProgramPutsIntoTheStoreBeforeTheStart(t *testing.T) {
	for name, want := range each(map[string][]string{
		"client-go": {"OnDelete tombstone ns/gone of 1", "OnUpdate stays 2, was 1"},
		"ours": {"OnAdd gone 1 first", "OnAdd stays 1 first", "OnDelete tombstone ns/gone of 1",
			"OnUpdate stays 2, was 1"},
	}) {
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("stays", "2"))
			for _, object := range []string{"gone", "stays"} {
				must.NoError(t, r.GetIndexer().Add(configMap(object, "1")))
			}
			handler := r.recorder(t)
			r.run(t)
			handler.WantSorted(t, want...)
		})
	}
}

// No handler is notified. The next event of the server replaces the object, or the next list. A
// program may put the answer to its write into the store. Then the event of that write changes
// nothing: only handlers that are due for a resync get it.
func TestWhatAProgramPutsIntoTheStoreOfARunningInformer(t *testing.T) {
	forEach(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, resyncing(time.Hour), configMap("a", "1"))
		handler := r.recorder(t, every(0))
		r.run(t)
		time.Sleep(time.Hour) // until the handler is not due any more
		w := r.server.NextWatch()
		handler.Want(t, "OnAdd a 1 first")
		must.NoError(t, errors.Join(r.GetStore().Add(configMap("mine", "2")), r.GetStore().Update(configMap("a", "2"))))
		w.Modify(configMap("a", "2"))
		handler.Want(t)
		w.Modify(configMap("a", "3"))
		handler.Want(t, "OnUpdate a 3, was 2")
		r.server.Set(configMap("a", "3"))
		fakeapi.Expire(w)
		r.server.NextWatch()
		handler.Want(t, "OnDelete tombstone ns/mine of 2")
		if got, want := keys(r.GetStore()), []string{"ns/a"}; !slices.Equal(got, want) {
			t.Errorf("ListKeys() = %q, want %q", got, want)
		}
	})
}

// A list cannot be stored if the transform gives nil for one of its objects. Our informer reports
// this and lists again. client-go's informer drops the whole list without an error, and has synced,
// with an empty store until the next list.
func TestATransformThatGivesNilForAnObjectOfAList(t *testing.T) {
	type outcome struct {
		synced bool
		lists  int
		errors bool // whether an error is reported
	}
	for name, want := range each(map[string]outcome{
		"client-go": {synced: true, lists: 1, errors: false},
		"ours":      {synced: true, lists: 1, errors: true},
		"no-queue":  {synced: false, lists: 2, errors: true},
		"part-two":  {synced: false, lists: 2, errors: true},
	}) {
		if name == "deltafifo" {
			continue // it has queued a part of the list when it comes to the nil, and lists again
		}
		inFakeTime(t, func(t *testing.T) {
			r := newRig(implementations[name], options(), configMap("a", "1"), configMap("b", "1"))
			must.NoError(t, r.SetTransform(func(obj any) (any, error) {
				if obj.(*corev1.ConfigMap).Name == "b" {
					return nil, nil
				}
				return obj, nil
			}))
			handled.Take()
			handler := r.recorder(t)
			r.run(t)
			time.Sleep(1600 * time.Millisecond) // the first pause is over by then, the second is not
			wantSynced(t, name, want.synced, r)
			if lists := r.server.Lists(); lists != want.lists {
				t.Errorf("%s: Lists() = %d, want %d", name, lists, want.lists)
			}
			handler.Want(t)
			if got := keys(r.GetStore()); len(got) != 0 {
				t.Errorf("%s: ListKeys() = %q, want none", name, got)
			}
			reported := handled.Take()
			if got := len(reported) > 0; got != want.errors {
				t.Errorf("%s: the error handlers got %q, errors = %t; want %t", name, reported, got, want.errors)
			}
		})
	}
}

// gauges is a metrics provider. It records the name of a metric each time that the informer sets
// it.
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

// Our queues have no metrics, and an indexer has none, either.
func TestMetrics(t *testing.T) {
	for name, want := range each(map[string][]string{
		"client-go": {"processing latency", "queued items", "version of the store"},
		"ours":      nil,
		"snapshots": {"version of the store"},
		"part-two":  {"version of the store"},
	}) {
		inFakeTime(t, func(t *testing.T) {
			informerName, err := cache.NewInformerName("TestMetrics")
			must.NoError(t, err)
			defer informerName.Release()
			metrics := &gauges{}
			named := options()
			named.InformerMetricsProvider = metrics
			named.Identifier = informerName.WithResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
			r := newRig(implementations[name], named, configMap("a", "1"))
			r.run(t)
			got := slices.Compact(slices.Sorted(slices.Values(metrics.Take())))
			if !slices.Equal(got, want) {
				t.Errorf("%s: the informer has set the metrics %q, want %q", name, got, want)
			}
		})
	}
}

// The name of a handler's checker begins with the name of its informer. That name has the
// ObjectDescription of the options, or else the type.
func TestNamesOfCheckers(t *testing.T) {
	described := options()
	described.ObjectDescription = "widgets"
	for _, test := range []struct {
		options cache.SharedIndexInformerOptions
		want    string
	}{
		{options(), "Informer *v1.ConfigMap"},
		{described, "Informer widgets"},
	} {
		r := newRig(partTwo, test.options)
		registration := r.handle(t, cache.ResourceEventHandlerFuncs{})
		if got := r.HasSyncedChecker().Name(); got != test.want {
			t.Errorf("Name() = %q for the informer, want %q", got, test.want)
		}
		want := test.want + " + event handler cache.ResourceEventHandlerFuncs"
		if got := registration.HasSyncedChecker().Name(); got != want {
			t.Errorf("Name() = %q for the handler, want %q", got, want)
		}
	}
}

// An object has 100,000 updates while a handler is stuck. When the handler goes on, it gets one
// update from the state that it knows to a much later one, and then the few updates that were not
// folded yet.
func TestAStalledHandlerDoesNotGetEveryChange(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("first", "1"))
		calls, busy := &record.Lines{}, make(chan struct{})
		recorder := record.Handler(calls)
		registration := r.handle(t, cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, first bool) {
				recorder.OnAdd(obj, first)
				<-busy
			},
			UpdateFunc: recorder.OnUpdate,
			DeleteFunc: recorder.OnDelete,
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
		if len(got) < 2 || len(got) > 1000 {
			t.Fatalf("the handler got %d calls, want 2 to 1000", len(got))
		}
		if call := got[0]; !strings.HasPrefix(call, "OnUpdate first ") || !strings.HasSuffix(call, ", was 1") {
			t.Errorf("the first call is %q, want an update of first from version 1", call)
		}
		lastTwo := got[len(got)-2:] // the very last call may be the delete of short
		if !slices.ContainsFunc(lastTwo, func(call string) bool {
			return strings.HasPrefix(call, "OnUpdate first 100003,")
		}) {
			t.Errorf("the last two calls are %q, want an update of first to version 100003", lastTwo)
		}
		added, deleted := slices.Contains(got, "OnAdd short 3"), slices.Contains(got, "OnDelete short 100004")
		if added != deleted {
			t.Errorf("short was added: %t, and deleted: %t; want both or neither", added, deleted)
		}
	})
}

// While a handler is busy, an object that it has received in version 1 leaves the selection of the
// informer, and enters it again. The handler is far behind, so it gets one update for both. The old
// object of the update is the one that it has received.
func TestWhatComesBackUnseenIsAnUpdateOfWhatTheHandlerGot(t *testing.T) {
	forOurs(t, func(t *testing.T, newInformer maker) {
		r := newRig(newInformer, options(), configMap("a", "1"))
		r.SharedIndexInformer.(*informer.Informer).SetPatience(0)
		var calls record.Lines
		busy := make(chan struct{})
		recorder := record.Handler(&calls)
		r.handle(t, cache.FilteringResourceEventHandler{
			FilterFunc: func(obj any) bool {
				if obj.(metav1.Object).GetName() == "a" {
					return true
				}
				<-busy
				return false
			},
			Handler: recorder,
		})
		r.run(t)
		calls.Want(t, "OnAdd a 1 first")
		w := r.server.NextWatch()
		w.Add(configMap("b", "2"))
		synctest.Wait() // the handler is busy with b
		w.Delete(configMap("a", "3"))
		w.Add(configMap("a", "4"))
		for i := range 1000 { // more than a chunk of the journal, which folds when a chunk is full
			w.Modify(configMap("b", version(5+i)))
		}
		synctest.Wait() // the last event is in the journal, which has folded
		close(busy)
		calls.Want(t, "OnUpdate a 4, was 1")
	})
}
