// Sources and stores that misbehave.

package reflector

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

func named(name string) *corev1.ConfigMap { return fakeapi.ConfigMap(name, "1") }

// endOfList is the mark at the end of a streamed list.
func endOfList(version string) *corev1.ConfigMap {
	end := fakeapi.ConfigMap("", version)
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return end
}

func TestAnEventWithoutAnObjectIsReportedAndLeftOut(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		before := utilruntime.ErrorHandlers
		defer func() { utilruntime.ErrorHandlers = before }()
		var reported []string
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, _ error, text string, _ ...any) {
			reported = append(reported, text)
		}}
		w := watch.NewFakeWithChanSize(10, false)
		w.Add(nil) // in the list
		w.Add(named("a"))
		w.Action(watch.Bookmark, endOfList("1"))
		w.Modify(nil) // and after it
		w.Delete(nil)
		w.Action(watch.Bookmark, nil)
		w.Add(named("b"))
		store := newStore()
		runFor(t, time.Second, run, streaming(func() watch.Interface { return w }), store)
		want := slices.Repeat([]string{"Unable to understand watch event"}, 4)
		expect.That(t, slices.Equal(reported, want), "reported %q", reported)
		got := keys(store)
		expect.That(t, got == "[ns/a ns/b]", "stored %v", got)
	})
}

// A panicking store panics in one of its methods, with the method's name.
type panicking struct {
	cache.Store
	where string
}

func (p panicking) panicIn(method string) {
	if p.where == method {
		panic(method)
	}
}

func (p panicking) Replace(list []any, version string) error {
	p.panicIn("Replace")
	return p.Store.Replace(list, version)
}

func (p panicking) Add(any) error { p.panicIn("Add"); return nil }

func (p panicking) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) { p.panicIn("Transformer"); return obj, nil }
}

// A program may recover from a panic. client-go's leaves a watch open if that was in
// Replace.
func TestAPanicLeavesNoWatchOpen(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		for _, where := range []string{"Transformer", "Replace", "Add"} {
			w := watch.NewFakeWithChanSize(10, false)
			w.Add(named("a"))
			w.Action(watch.Bookmark, endOfList("1"))
			w.Add(named("b"))
			func() {
				defer func() {
					got := recover()
					expect.That(t, got == where, "recovered %v, want %s", got, where)
				}()
				run(t.Context(), streaming(func() watch.Interface { return w }),
					panicking{newStore(), where})
			}()
			expect.That(t, w.IsStopped() == (name == "ours" || where != "Replace"),
				"after a panic in %s the watch is stopped: %t", where, w.IsStopped())
		}
	})
}

// A blocking source takes no contexts, and answers requests of one kind when it is
// released.
type blocking struct {
	kind     string
	released chan struct{}
	watch    *watch.FakeWatcher
}

func (b blocking) block(kind string) {
	if b.kind == kind {
		<-b.released
	}
}

func (b blocking) List(o metav1.ListOptions) (runtime.Object, error) {
	b.block("LIST")
	return empty(o)
}

func (b blocking) Watch(metav1.ListOptions) (watch.Interface, error) {
	b.block("WATCH")
	return b.watch, nil
}

func (blocking) IsWatchListSemanticsUnSupported() bool { return true }

// A LIST is left behind, a WATCH is not: somebody has to stop it when it is there.
func TestASourceWithoutContextsIsWaitedForInWatch(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		for _, kind := range []string{"LIST", "WATCH"} {
			source := blocking{kind, make(chan struct{}), watch.NewFake()}
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan struct{})
			go func() { defer close(ended); run(ctx, source, newStore()) }()
			synctest.Wait()
			cancel()
			synctest.Wait()
			select {
			case <-ended:
				expect.That(t, kind != "WATCH", "it has ended before the WATCH was answered")
			default:
				expect.That(t, kind != "LIST", "it waits for the LIST")
			}
			close(source.released)
			<-ended
			expect.That(t, kind != "WATCH" || source.watch.IsStopped(), "the watch is left open")
		}
	})
}

// The watch that a list came over has nobody else to stop it.
func TestTheWatchOfAListIsStoppedIfTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := watch.NewFake()
	_ = New(Options{ListerWatcher: plain(empty, refuse(errRefused)), Store: newStore()}).watch(ctx, w)
	expect.That(t, w.IsStopped(), "the watch that the list came over is left open")
}

// A watch from no version begins with all objects, in no order: their versions do not
// say where the next watch can begin.
func TestAWatchFromNoVersionIsResumedFromNoVersion(t *testing.T) {
	both(t, func(t *testing.T, _ string, run runFunc) {
		var asked []string
		list := func(metav1.ListOptions) (runtime.Object, error) { return &corev1.ConfigMapList{}, nil }
		runFor(t, 3*time.Minute, run, plain(list, func(o metav1.ListOptions) (watch.Interface, error) {
			asked = append(asked, o.ResourceVersion)
			w := watch.NewFakeWithChanSize(1, false)
			w.Add(fakeapi.ConfigMap("a", "7"))
			time.AfterFunc(time.Minute, w.Stop)
			return w, nil
		}), newStore())
		expect.That(t, len(asked) >= 2 && asked[1] == "", "watches from %q, want all from no version", asked)
	})
}

func TestWhatTheReflectorAsksForIsObserved(t *testing.T) {
	var seen []string
	list := func(o metav1.ListOptions) (runtime.Object, error) {
		if o.ResourceVersion != "" {
			return nil, apierrors.NewResourceExpired("too old")
		}
		return empty(o)
	}
	_ = New(Options{ListerWatcher: plain(list, refuse(apierrors.NewBadRequest("no"))), Store: newStore(),
		Observer: observer.Func(func(e observer.Event) { seen = append(seen, string(e.Kind)+" "+e.Version) }),
	}).ListAndWatch(t.Context())
	want := []string{"listing 0", "expired ", "listing ", "listed 1", "watching 1"}
	expect.That(t, slices.Equal(seen, want), "observed %q, want %q", seen, want)
}

// client-go's asks again at once, as fast as it can.
func TestAStreamedListThatBreaksOffIsAskedForAgainAfterAPause(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old").Status()
	for _, breakOff := range []func(*watch.FakeWatcher){
		func(w *watch.FakeWatcher) { w.Add(named("a")); w.Stop() },
		func(w *watch.FakeWatcher) { w.Error(&expired) },
	} {
		both(t, func(t *testing.T, name string, run runFunc) {
			requests := 0
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			run(ctx, streaming(func() watch.Interface {
				if requests++; requests == 1000 {
					cancel()
				}
				w := watch.NewFakeWithChanSize(1, false)
				breakOff(w)
				return w
			}), newStore())
			expect.That(t, (requests < 10) == (name == "ours"), "%d requests in a minute", requests)
		})
	}
}

// A streamed list whose end does not come is warned of, every ten seconds in which
// nothing came.
func TestALateBookmarkIsWarnedOf(t *testing.T) {
	both(t, func(t *testing.T, _ string, run runFunc) {
		var warnings []string
		late := regexp.MustCompile("no events received for [0-9a-z]+|received last event [0-9a-z]+ ago")
		logger := funcr.New(func(_, line string) {
			if strings.Contains(line, "Warning: event bookmark expired") {
				warnings = append(warnings, late.FindString(line))
			}
		}, funcr.Options{})
		w := watch.NewFakeWithChanSize(1, false)
		stop := must.Run(t, func(ctx context.Context) {
			run(klog.NewContext(ctx, logger), streaming(func() watch.Interface { return w }), newStore())
		})
		time.Sleep(12 * time.Second)
		w.Add(named("a"))
		time.Sleep(20 * time.Second)
		w.Action(watch.Bookmark, endOfList("1"))
		time.Sleep(time.Minute)
		stop()
		want := []string{"no events received for 10s", "received last event 18s ago"}
		expect.That(t, slices.Equal(warnings, want), "warned %q, want %q", warnings, want)
	})
}

// That the client cannot stream lists is logged, where somebody who wonders why will
// find it.
func TestAClientThatCannotStreamIsLogged(t *testing.T) {
	var lines []string
	klog.SetLogger(funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{Verbosity: 2}))
	defer klog.SetLogger(klog.Logger{})
	var level klog.Level
	defer func() { _ = level.Set("0") }()
	must.Do(t, level.Set("2"))
	New(Options{ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{}, noStreams{})})
	expect.That(t, len(lines) == 1 && strings.Contains(lines[0], "doesn't support WatchList semantics"),
		"logged %q", lines)
}
