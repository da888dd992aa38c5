// How a reflector reacts to a ListerWatcher or a store that misbehaves.

package reflector

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// configMap returns a ConfigMap of version 1.
func configMap(name string) *corev1.ConfigMap { return fakeapi.ConfigMap(name, "1") }

// endOfList returns the object of the bookmark at the end of a streamed list.
func endOfList(version string) *corev1.ConfigMap {
	end := fakeapi.ConfigMap("", version)
	end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	return end
}

func TestAnEventWithoutAnObjectIsReportedAndLeftOut(t *testing.T) {
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		before := utilruntime.ErrorHandlers
		defer func() { utilruntime.ErrorHandlers = before }()
		var reported []string
		utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{func(_ context.Context, _ error, text string, _ ...any) {
			reported = append(reported, text)
		}}
		w := watch.NewFakeWithChanSize(10, false)
		w.Add(nil) // in the list
		w.Add(configMap("a"))
		w.Action(watch.Bookmark, endOfList("1"))
		w.Modify(nil) // and after it
		w.Delete(nil)
		w.Action(watch.Bookmark, nil)
		w.Add(configMap("b"))
		store := newStore()
		runFor(t, time.Second, run, streamingListWatch(func() watch.Interface { return w }), store)
		want := slices.Repeat([]string{"Unable to understand watch event"}, 4)
		if !slices.Equal(reported, want) {
			t.Errorf("reported %q, want %q", reported, want)
		}
		if got, want := sortedKeys(store), []string{"ns/a", "ns/b"}; !slices.Equal(got, want) {
			t.Errorf("stored %q, want %q", got, want)
		}
	})
}

// A panickingStore panics in one of its methods, with the name of the method.
type panickingStore struct {
	cache.Store
	method string
}

// panicIn panics if the store has to panic in this method.
func (p panickingStore) panicIn(method string) {
	if p.method == method {
		panic(method)
	}
}

func (p panickingStore) Replace(list []any, version string) error {
	p.panicIn("Replace")
	return p.Store.Replace(list, version)
}

func (p panickingStore) Add(any) error {
	p.panicIn("Add")
	return nil
}

func (p panickingStore) Transformer() cache.TransformFunc {
	return func(obj any) (any, error) {
		p.panicIn("Transformer")
		return obj, nil
	}
}

// A program may recover from a panic. client-go's reflector leaves a watch open if Replace panics.
func TestAPanicLeavesNoWatchOpen(t *testing.T) {
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		for _, method := range []string{"Transformer", "Replace", "Add"} {
			w := watch.NewFakeWithChanSize(10, false)
			w.Add(configMap("a"))
			w.Action(watch.Bookmark, endOfList("1"))
			w.Add(configMap("b"))
			func() {
				defer func() {
					if got := recover(); got != method {
						t.Errorf("recovered %v, want %s", got, method)
					}
				}()
				run(t.Context(), streamingListWatch(func() watch.Interface { return w }),
					panickingStore{newStore(), method})
			}()
			want := true
			if name == clientGo && method == "Replace" {
				want = false
			}
			if got := w.IsStopped(); got != want {
				t.Errorf("after a panic in %s: IsStopped() = %t, want %t", method, got, want)
			}
		}
	})
}

// A blockingListerWatcher has no methods with a context. Its requests of one kind, LIST or WATCH,
// block until released is closed.
type blockingListerWatcher struct {
	blockedKind string
	released    chan struct{}
	watch       *watch.FakeWatcher
}

// block waits if requests of this kind are blocked.
func (b blockingListerWatcher) block(kind string) {
	if b.blockedKind == kind {
		<-b.released
	}
}

func (b blockingListerWatcher) List(o metav1.ListOptions) (runtime.Object, error) {
	b.block("LIST")
	return emptyList(o)
}

func (b blockingListerWatcher) Watch(metav1.ListOptions) (watch.Interface, error) {
	b.block("WATCH")
	return b.watch, nil
}

func (blockingListerWatcher) IsWatchListSemanticsUnSupported() bool { return true }

// A reflector whose context has ended does not wait for a LIST. It waits for a WATCH, because it
// has to stop the watch.
func TestASourceWithoutContextsIsWaitedForInWatch(t *testing.T) {
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		for _, kind := range []string{"LIST", "WATCH"} {
			lw := blockingListerWatcher{blockedKind: kind, released: make(chan struct{}), watch: watch.NewFake()}
			ctx, cancel := context.WithCancel(t.Context())
			done := make(chan struct{})
			go func() {
				defer close(done)
				run(ctx, lw, newStore())
			}()
			synctest.Wait()
			cancel()
			synctest.Wait()
			ended := false
			select {
			case <-done:
				ended = true
			default:
			}
			if kind == "LIST" && !ended {
				t.Error("the reflector waits for the LIST, want it to end")
			}
			if kind == "WATCH" && ended {
				t.Error("the reflector has ended before the WATCH was answered, want it to wait")
			}
			close(lw.released)
			<-done
			if kind == "WATCH" && !lw.watch.IsStopped() {
				t.Error("IsStopped() = false after the end of the reflector, want true")
			}
		}
	})
}

// Nobody else stops the watch of a streamed list.
func TestTheWatchOfAListIsStoppedIfTheContextHasEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := watch.NewFake()
	_ = New(Options{ListerWatcher: plainListWatch(emptyList, refuseWatch(errRefused)), Store: newStore()}).watch(ctx, w)
	if !w.IsStopped() {
		t.Error("IsStopped() of the watch of the list = false, want true")
	}
}

// It is observed before the request: the server may take long to answer.
func TestWhatTheReflectorAsksForIsObserved(t *testing.T) {
	var observed []string
	list := func(o metav1.ListOptions) (runtime.Object, error) {
		observed = append(observed, "LIST")
		if o.ResourceVersion != "" {
			return nil, apierrors.NewResourceExpired("too old")
		}
		return emptyList(o)
	}
	watches := func(metav1.ListOptions) (watch.Interface, error) {
		observed = append(observed, "WATCH")
		return nil, apierrors.NewBadRequest("no")
	}
	reflector := New(Options{
		ListerWatcher: plainListWatch(list, watches),
		Store:         newStore(),
		Observer:      observer.Func(func(event any) { observed = append(observed, describe(event)) }),
	})
	if err := reflector.ListAndWatch(t.Context()); !apierrors.IsBadRequest(err) {
		t.Errorf("ListAndWatch() = %v, want the error of the watch", err)
	}
	want := []string{"listing 0", "LIST", "expired: too old", "listing ", "LIST", "listed 1", "watching 1", "WATCH"}
	if diff := cmp.Diff(want, observed); diff != "" {
		t.Errorf("observed events with their versions, and the requests (-want +got):\n%s", diff)
	}
}

// client-go's reflector asks again immediately, as fast as it can.
func TestAStreamedListThatBreaksOffIsAskedForAgainAfterAPause(t *testing.T) {
	expired := apierrors.NewResourceExpired("too old").Status()
	for _, breakOff := range []func(*watch.FakeWatcher){
		func(w *watch.FakeWatcher) {
			w.Add(configMap("a"))
			w.Stop()
		},
		func(w *watch.FakeWatcher) { w.Error(&expired) },
	} {
		testBoth(t, func(t *testing.T, name string, run runFunc) {
			requests := 0
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			run(ctx, streamingListWatch(func() watch.Interface {
				requests++
				if requests == 1000 {
					cancel()
				}
				w := watch.NewFakeWithChanSize(1, false)
				breakOff(w)
				return w
			}), newStore())
			if name == ours && requests >= 10 {
				t.Errorf("%d requests in a minute, want fewer than 10", requests)
			}
			if name == clientGo && requests < 10 {
				t.Errorf("%d requests in a minute, want many", requests)
			}
		})
	}
}

// A reflector logs a warning for a streamed list without an end, after each ten seconds without an
// event. A bookmark that is not the end of the list is an event, too.
func TestALateBookmarkIsWarnedOf(t *testing.T) {
	late := regexp.MustCompile("no events received for [0-9a-z]+|received last event [0-9a-z]+ ago")
	for eventType, obj := range map[watch.EventType]runtime.Object{
		watch.Added:    configMap("a"),
		watch.Bookmark: configMap(""),
	} {
		testBoth(t, func(t *testing.T, _ string, run runFunc) {
			var warnings []string
			logger := funcr.New(func(_, line string) {
				if strings.Contains(line, "Warning: event bookmark expired") {
					warnings = append(warnings, late.FindString(line))
				}
			}, funcr.Options{})
			w := watch.NewFakeWithChanSize(1, false)
			stop := must.Run(t, func(ctx context.Context) {
				run(klog.NewContext(ctx, logger), streamingListWatch(func() watch.Interface { return w }), newStore())
			})
			wantWarnings := func(when string, want ...string) {
				t.Helper()
				synctest.Wait()
				if !slices.Equal(warnings, want) {
					t.Fatalf("%s: warnings %q, want %q", when, warnings, want)
				}
			}
			first, second := "no events received for 10s", "received last event 18s ago"
			time.Sleep(12 * time.Second)
			wantWarnings("after 12s without an event", first)
			w.Action(eventType, obj)
			time.Sleep(20 * time.Second)
			wantWarnings(fmt.Sprintf("20s after %s", eventType), first, second)
			w.Action(watch.Bookmark, endOfList("1"))
			time.Sleep(time.Minute)
			stop()
			wantWarnings("after the end of the list", first, second)
		})
	}
}

// New logs that the client does not support streamed lists.
func TestAClientThatCannotStreamIsLogged(t *testing.T) {
	const want = "doesn't support WatchList semantics"
	lines := 0
	klog.SetLogger(funcr.New(func(_, line string) {
		if strings.Contains(line, want) { // the first reflector of a process logs the feature gates, too
			lines++
		}
	}, funcr.Options{Verbosity: 2}))
	defer klog.SetLogger(klog.Logger{})
	var level klog.Level
	defer func() { _ = level.Set("0") }()
	must.NoError(t, level.Set("2"))
	New(Options{ListerWatcher: cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{}, noStreams{})})
	if lines != 1 {
		t.Errorf("logged %d lines with %q, want one", lines, want)
	}
}
