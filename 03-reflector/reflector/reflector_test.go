package reflector

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/03-reflector/observer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

var errRefused = &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}

type runFunc = func(context.Context, cache.ListerWatcher, cache.ReflectorStore)

// reflectors are client-go's and ours, for objects of a type.
func reflectors(expected runtime.Object) map[string]runFunc {
	return map[string]runFunc{
		"client-go": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			cache.NewReflector(lw, expected, store, 0).RunWithContext(ctx)
		},
		"ours": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			New(Options{ListerWatcher: lw, Store: store, ExpectedType: expected}).Run(ctx)
		},
	}
}

// both runs a test with our reflector and with client-go's, in fake time.
func both(t *testing.T, test func(t *testing.T, name string, run runFunc)) {
	t.Helper()
	for name, run := range reflectors(nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, name, run) })
		})
	}
}

// start runs a reflector until the test is over, or stop is called.
func start(t *testing.T, run runFunc, lw cache.ListerWatcher, store cache.ReflectorStore) (stop func()) {
	return must.Run(t, func(ctx context.Context) { run(ctx, lw, store) })
}

// runFor runs a reflector for a time.
func runFor(t *testing.T, lasts time.Duration, run runFunc, lw cache.ListerWatcher, store cache.ReflectorStore) {
	t.Helper()
	stop := start(t, run, lw, store)
	time.Sleep(lasts)
	stop()
}

func newStore() cache.Store { return cache.NewStore(cache.MetaNamespaceKeyFunc) }

// keys are those of a store, sorted.
func keys(store cache.Store) string {
	return fmt.Sprint(slices.Sorted(slices.Values(store.ListKeys())))
}

type (
	listFunc  = func(metav1.ListOptions) (runtime.Object, error)
	watchFunc = func(metav1.ListOptions) (watch.Interface, error)
)

// source is a server that answers with functions.
func source(list listFunc, watches watchFunc) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(o) },
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return watches(o)
		},
	}
}

// noStreams is a client that cannot stream lists.
type noStreams struct{}

func (noStreams) IsWatchListSemanticsUnSupported() bool { return true }

// plain is a source that streams no lists.
func plain(list listFunc, watches watchFunc) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(source(list, watches), noStreams{})
}

// streaming is a source whose watches come from a function. A LIST is empty.
func streaming(watches func() watch.Interface) cache.ListerWatcher {
	return source(empty, func(metav1.ListOptions) (watch.Interface, error) { return watches(), nil })
}

// refuse answers a WATCH with an error.
func refuse(err error) watchFunc {
	return func(metav1.ListOptions) (watch.Interface, error) { return nil, err }
}

// empty answers a LIST.
func empty(metav1.ListOptions) (runtime.Object, error) {
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

// While the server refuses connections, client-go's reflector notices the end of
// its context when the pause is over, which can take a minute. Ours notices at once.
func TestItEndsAtOnceWhileTheServerRefusesConnections(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		list := func(metav1.ListOptions) (runtime.Object, error) { return nil, errRefused }
		stop := start(t, run, source(list, refuse(errRefused)), newStore())
		time.Sleep(10 * time.Minute)
		cancelled := time.Now()
		stop()
		took := time.Since(cancelled)
		expect.That(t, (took == 0) == (name == "ours"), "it took %v", took)
	})
}

// refusing is a store that takes no list.
type refusing struct{ cache.Store }

func (refusing) Replace([]any, string) error { return errors.New("not this list") }

// When the store refuses a streamed list, client-go's reflector forgets to stop the
// watch that the list came over.
func TestNoWatchIsLeftOpenWhenTheStoreRefusesAList(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		var watches []*watch.FakeWatcher
		runFor(t, 10*time.Minute, run, streaming(func() watch.Interface {
			w := watch.NewFakeWithChanSize(1, false)
			w.Action(watch.Bookmark, endOfList("1"))
			watches = append(watches, w)
			return w
		}), refusing{newStore()})
		open := 0
		for _, w := range watches {
			if !w.IsStopped() {
				open++
			}
		}
		expect.That(t, len(watches) >= 10 && (open == 0) == (name == "ours"),
			"%d of %d watches are open", open, len(watches))
	})
}

func TestWhatIsOfAnotherTypeIsLeftOut(t *testing.T) {
	widget := func(kind, name string) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.com/v1", "kind": kind,
			"metadata": map[string]any{"name": name, "resourceVersion": "5"}}}
	}
	for _, test := range []struct {
		expected runtime.Object
		send     []runtime.Object
		want     string
	}{
		{&corev1.ConfigMap{}, []runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "map"}}}, "[map]"},
		{widget("Widget", ""), []runtime.Object{widget("Gadget", "gadget"), widget("Widget", "widget")}, "[widget]"},
		{nil, []runtime.Object{widget("Gadget", "gadget"), widget("Table", "other-table")}, "[gadget other-table]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := watch.NewFakeWithChanSize(10, false)
			for _, obj := range test.send {
				w.Add(obj)
			}
			lw := plain(empty, func(metav1.ListOptions) (watch.Interface, error) { return w, nil })
			s := newStore()
			runFor(t, time.Second, reflectors(test.expected)["ours"], lw, s)
			got := keys(s)
			expect.That(t, got == test.want, "%T: stored %v, want %s", test.expected, got, test.want)
		})
	}
}

// The answer to a LIST is not checked: its objects are stored, whatever their type.
// A list that is streamed is made of events, and those are.
func TestAListOfAnotherTypeIsStoredUnlessItIsStreamed(t *testing.T) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", ResourceVersion: "1"}}
	pods := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{pod}}
	list := func(metav1.ListOptions) (runtime.Object, error) { return pods, nil }
	for name, run := range reflectors(&corev1.ConfigMap{}) {
		for streamed, want := range map[bool]string{true: "[]", false: "[pod]"} {
			synctest.Test(t, func(t *testing.T) {
				lw := source(list, func(o metav1.ListOptions) (watch.Interface, error) {
					w := watch.NewFakeWithChanSize(2, false)
					switch {
					case o.SendInitialEvents == nil:
					case !streamed:
						return nil, apierrors.NewBadRequest("no streams here")
					default:
						w.Add(&pod)
						w.Action(watch.Bookmark, endOfList("1"))
					}
					return w, nil
				})
				s := newStore()
				runFor(t, time.Second, run, lw, s)
				got := keys(s)
				expect.That(t, got == want, "%s, streamed %t: stored %s, want %s", name, streamed, got, want)
			})
		}
	}
}

// An error handler hears of lists that fail, and of watches that cannot be opened.
// It does not hear of a watch that is refused (connection refused, 429), nor
// of a watch that fails when it is open. Our observer sees all of them.
func TestWhichErrorsAreHandledAndWhichOnlyObserved(t *testing.T) {
	broken := func(metav1.ListOptions) (watch.Interface, error) {
		w := watch.NewFakeWithChanSize(1, false)
		w.Error(&metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError})
		return w, nil
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no"))
	for name, test := range map[string]struct {
		list    error
		watch   watchFunc
		handled bool
	}{
		"refused":           {nil, refuse(errRefused), false},
		"too many requests": {nil, refuse(apierrors.NewTooManyRequests("", 1)), false},
		"an open watch":     {nil, broken, false},
		"no watch":          {nil, refuse(forbidden), true},
		"no list":           {forbidden, nil, true},
	} {
		handled, seen := 0, 0
		list := func(o metav1.ListOptions) (runtime.Object, error) {
			if test.list != nil {
				return nil, test.list
			}
			return empty(o)
		}
		for _, run := range []runFunc{
			func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
				cache.New(&cache.Config{ListerWatcher: lw, ObjectType: &corev1.ConfigMap{},
					Queue: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
					WatchErrorHandlerWithContext: func(context.Context, *cache.Reflector, error) {
						handled++
					},
					Process: func(any, bool) error { return nil }}).RunWithContext(ctx)
			},
			func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
				New(Options{ListerWatcher: lw, Store: store,
					WatchErrorHandler: func(context.Context, error) { handled++ },
					Observer: observer.Func(func(e observer.Event) {
						if e.Kind == observer.Ended && e.Err != nil {
							seen++
						}
					})}).Run(ctx)
			},
		} {
			handled = 0
			synctest.Test(t, func(t *testing.T) { runFor(t, 10*time.Minute, run, plain(list, test.watch), newStore()) })
			expect.That(t, (handled > 0) == test.handled, "%s: handled %d times", name, handled)
		}
		expect.That(t, seen >= 10, "%s: observed %d times", name, seen)
	}
}

// A resync that the store refuses, and a stream that the server refuses, are seen.
func TestWhatIsRefusedIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		streams := 0
		lw := source(nil, func(metav1.ListOptions) (watch.Interface, error) {
			if streams++; streams == 1 {
				return nil, errRefused
			}
			w := watch.NewFakeWithChanSize(1, false)
			w.Action(watch.Bookmark, endOfList("1"))
			return w, nil
		})
		reflector := New(Options{ListerWatcher: lw, Store: refusesResync{newStore()}, ResyncPeriod: 10 * time.Second,
			Observer: observer.Func(func(e observer.Event) {
				if e.Kind == observer.Ended {
					seen = append(seen, e.Err.Error())
				}
			})})
		stop := must.Run(t, reflector.Run)
		time.Sleep(15 * time.Second)
		stop()
		got := strings.Join(seen, "; ")
		expect.That(t, got == "connect: connection refused; resyncing the store of <unspecified>: no resync today",
			"%v", got)
	})
}

type refusesResync struct{ cache.Store }

func (refusesResync) Resync() error { return errors.New("no resync today") }
