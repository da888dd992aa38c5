package reflector

import (
	"context"
	"errors"
	"os"
	"slices"
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
	"example.com/informer/scripts/harness/must"
)

// errRefused is the error of a connection that the server refuses.
var errRefused = &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}

// A runFunc runs a reflector until its context ends.
type runFunc = func(context.Context, cache.ListerWatcher, cache.ReflectorStore)

// The names of the two implementations.
const (
	clientGo = "client-go"
	ours     = "ours"
)

// reflectors returns client-go's reflector and ours, for objects of a type.
func reflectors(expected runtime.Object) map[string]runFunc {
	return map[string]runFunc{
		clientGo: func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			cache.NewReflector(lw, expected, store, 0).RunWithContext(ctx)
		},
		ours: func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			New(Options{ListerWatcher: lw, Store: store, ExpectedType: expected}).Run(ctx)
		},
	}
}

// testBoth runs a test with our reflector and with client-go's, in fake time.
func testBoth(t *testing.T, test func(t *testing.T, name string, run runFunc)) {
	t.Helper()
	for name, run := range reflectors(nil) {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, name, run) })
		})
	}
}

// start runs a reflector until the test ends, or until stop is called.
func start(t *testing.T, run runFunc, lw cache.ListerWatcher, store cache.ReflectorStore) (stop func()) {
	return must.Run(t, func(ctx context.Context) { run(ctx, lw, store) })
}

// runFor runs a reflector for some time.
func runFor(t *testing.T, duration time.Duration, run runFunc, lw cache.ListerWatcher, store cache.ReflectorStore) {
	t.Helper()
	before := must.Goroutines()
	stop := start(t, run, lw, store)
	time.Sleep(duration)
	stop()
	must.NoNewGoroutines(t, before)
}

func newStore() cache.Store { return cache.NewStore(cache.MetaNamespaceKeyFunc) }

func sortedKeys(store cache.Store) []string {
	return slices.Sorted(slices.Values(store.ListKeys()))
}

type (
	listFunc  = func(metav1.ListOptions) (runtime.Object, error)
	watchFunc = func(metav1.ListOptions) (watch.Interface, error)
)

// listWatch returns a ListWatch that calls these functions. It supports streamed lists.
func listWatch(list listFunc, watches watchFunc) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(_ context.Context, o metav1.ListOptions) (runtime.Object, error) { return list(o) },
		WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return watches(o)
		},
	}
}

// noStreams is a client that does not support streamed lists.
type noStreams struct{}

func (noStreams) IsWatchListSemanticsUnSupported() bool { return true }

// plainListWatch returns a ListWatch that does not support streamed lists.
func plainListWatch(list listFunc, watches watchFunc) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(listWatch(list, watches), noStreams{})
}

// streamingListWatch returns a ListWatch whose watches come from a function. A LIST is empty.
func streamingListWatch(watches func() watch.Interface) cache.ListerWatcher {
	return listWatch(emptyList, func(metav1.ListOptions) (watch.Interface, error) { return watches(), nil })
}

// refuseWatch returns a function that answers each WATCH with an error.
func refuseWatch(err error) watchFunc {
	return func(metav1.ListOptions) (watch.Interface, error) { return nil, err }
}

// emptyList answers a LIST with no objects, at version 1.
func emptyList(metav1.ListOptions) (runtime.Object, error) {
	return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
}

// While the server refuses connections, client-go's reflector notices the end of its context only
// when the pause is over, which can take a minute. Ours notices it immediately.
func TestItEndsAtOnceWhileTheServerRefusesConnections(t *testing.T) {
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		list := func(metav1.ListOptions) (runtime.Object, error) { return nil, errRefused }
		stop := start(t, run, listWatch(list, refuseWatch(errRefused)), newStore())
		time.Sleep(10 * time.Minute)
		cancelled := time.Now()
		stop()
		took := time.Since(cancelled)
		if name == ours && took != 0 {
			t.Errorf("it ended %v after its context, want 0s; it was in a pause after a refused LIST", took)
		}
		if name == clientGo && took == 0 {
			t.Errorf("it ended %v after its context, want the rest of the pause after a refused LIST", took)
		}
	})
}

type refusingStore struct{ cache.Store }

func (refusingStore) Replace([]any, string) error { return errors.New("not this list") }

// When the store refuses a streamed list, client-go's reflector forgets to stop the watch that the
// list came over.
func TestNoWatchIsLeftOpenWhenTheStoreRefusesAList(t *testing.T) {
	testBoth(t, func(t *testing.T, name string, run runFunc) {
		var watches []*watch.FakeWatcher
		runFor(t, 10*time.Minute, run, streamingListWatch(func() watch.Interface {
			w := watch.NewFakeWithChanSize(1, false)
			w.Action(watch.Bookmark, endOfList("1"))
			watches = append(watches, w)
			return w
		}), refusingStore{newStore()})
		open := 0
		for _, w := range watches {
			if !w.IsStopped() {
				open++
			}
		}
		if len(watches) < 10 {
			t.Errorf("%d watches were opened, want at least 10", len(watches))
		}
		if name == ours && open != 0 {
			t.Errorf("%d of %d watches are still open, want 0", open, len(watches))
		}
		if name == clientGo && open != len(watches) {
			t.Errorf("%d of %d watches are still open, want all of them", open, len(watches))
		}
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
		want     []string // the keys in the store
	}{
		{
			expected: &corev1.ConfigMap{},
			send: []runtime.Object{
				&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}},
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "map"}},
			},
			want: []string{"map"},
		},
		{
			expected: widget("Widget", ""),
			send:     []runtime.Object{widget("Gadget", "gadget"), widget("Widget", "widget")},
			want:     []string{"widget"},
		},
		{
			expected: nil,
			send:     []runtime.Object{widget("Gadget", "gadget"), widget("Table", "other-table")},
			want:     []string{"gadget", "other-table"},
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := watch.NewFakeWithChanSize(10, false)
			for _, obj := range test.send {
				w.Add(obj)
			}
			lw := plainListWatch(emptyList, func(metav1.ListOptions) (watch.Interface, error) { return w, nil })
			s := newStore()
			runFor(t, time.Second, reflectors(test.expected)[ours], lw, s)
			if got := sortedKeys(s); !slices.Equal(got, test.want) {
				t.Errorf("expected type %T: stored %q, want %q", test.expected, got, test.want)
			}
		})
	}
}

// A reflector does not check the types of the objects of a LIST, and stores all of them. A streamed
// list consists of events, and a reflector checks these.
func TestAListOfAnotherTypeIsStoredUnlessItIsStreamed(t *testing.T) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", ResourceVersion: "1"}}
	pods := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{pod}}
	list := func(metav1.ListOptions) (runtime.Object, error) { return pods, nil }
	for name, run := range reflectors(&corev1.ConfigMap{}) {
		for streamed, want := range map[bool][]string{true: nil, false: {"pod"}} {
			synctest.Test(t, func(t *testing.T) {
				lw := listWatch(list, func(o metav1.ListOptions) (watch.Interface, error) {
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
				if got := sortedKeys(s); !slices.Equal(got, want) {
					t.Errorf("%s, streamed %t: stored %q, want %q", name, streamed, got, want)
				}
			})
		}
	}
}

type refusingQueue struct{ *cache.DeltaFIFO }

func (refusingQueue) Replace([]any, string) error { return errors.New("not this list") }

// An error handler gets the errors of lists, and of watches that cannot be opened. It does not get
// the error of a streamed list, of a watch that is refused (connection refused, 429), nor of a watch
// that fails when it is open. Our observer gets all of them.
func TestWhichErrorsAreHandledAndWhichOnlyObserved(t *testing.T) {
	broken := func(code int32, reason metav1.StatusReason) watchFunc {
		return func(metav1.ListOptions) (watch.Interface, error) {
			w := watch.NewFakeWithChanSize(1, false)
			w.Error(&metav1.Status{Code: code, Reason: reason})
			return w, nil
		}
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no"))
	tooOld := broken(410, metav1.StatusReasonExpired)
	for name, test := range map[string]struct {
		listErr error
		refuses bool // the store refuses the list
		streams bool // a list is streamed first
		watch   watchFunc
		handled bool
	}{
		"refused":           {watch: refuseWatch(errRefused), handled: false},
		"too many requests": {watch: refuseWatch(apierrors.NewTooManyRequests("", 1)), handled: false},
		"an open watch":     {watch: broken(500, metav1.StatusReasonInternalError), handled: false},
		"too old":           {watch: tooOld, handled: false},
		"no watch":          {watch: refuseWatch(forbidden), handled: true},
		"no list":           {listErr: forbidden, handled: true},
		"no list for me":    {refuses: true, handled: true},
		"no stream": {
			streams: true,
			watch: func(o metav1.ListOptions) (watch.Interface, error) {
				if o.SendInitialEvents != nil {
					return nil, forbidden
				}
				return tooOld(o) // leads to the next stream
			},
			handled: false,
		},
	} {
		list := func(o metav1.ListOptions) (runtime.Object, error) {
			if test.listErr != nil {
				return nil, test.listErr
			}
			return emptyList(o)
		}
		var handled, observed int // calls of the error handler, and of the observer with an error
		for reflectorName, run := range map[string]runFunc{
			clientGo: func(ctx context.Context, lw cache.ListerWatcher, _ cache.ReflectorStore) {
				deltaFIFO := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{})
				var queue cache.Queue = deltaFIFO
				if test.refuses {
					queue = refusingQueue{deltaFIFO}
				}
				cache.New(&cache.Config{
					ListerWatcher:                lw,
					ObjectType:                   &corev1.ConfigMap{},
					Queue:                        queue,
					WatchErrorHandlerWithContext: func(context.Context, *cache.Reflector, error) { handled++ },
					Process:                      func(any, bool) error { return nil },
				}).RunWithContext(ctx)
			},
			ours: func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
				New(Options{
					ListerWatcher:     lw,
					Store:             store,
					WatchErrorHandler: func(context.Context, error) { handled++ },
					Observer: observer.Func(func(event any) {
						switch e := event.(type) {
						case observer.Expired:
							observed++
						case observer.Ended:
							if e.Err != nil {
								observed++
							}
						}
					}),
				}).Run(ctx)
			},
		} {
			handled = 0
			lw, store := plainListWatch(list, test.watch), newStore()
			if test.streams {
				lw = listWatch(list, test.watch)
			}
			if test.refuses {
				store = refusingStore{store}
			}
			synctest.Test(t, func(t *testing.T) { runFor(t, 10*time.Minute, run, lw, store) })
			if got := handled > 0; got != test.handled {
				t.Errorf("%s, %s: the error handler was called %d times; want calls: %t",
					reflectorName, name, handled, test.handled)
			}
		}
		if observed < 10 {
			t.Errorf("%s: the observer got %d errors, want at least 10", name, observed)
		}
	}
}

// The observer gets the error of a resync that the store refuses, and of a stream that the server
// refuses.
func TestWhatIsRefusedIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streams := 0
		lw := listWatch(nil, func(metav1.ListOptions) (watch.Interface, error) {
			streams++
			if streams == 1 {
				return nil, errRefused
			}
			w := watch.NewFakeWithChanSize(1, false)
			w.Action(watch.Bookmark, endOfList("1"))
			return w, nil
		})
		var observed []string // errors
		reflector := New(Options{
			ListerWatcher: lw,
			Store:         resyncRefusingStore{newStore()},
			ResyncPeriod:  10 * time.Second,
			Observer: observer.Func(func(event any) {
				if e, ok := event.(observer.Ended); ok {
					observed = append(observed, e.Err.Error())
				}
			}),
		})
		stop := must.Run(t, reflector.Run)
		time.Sleep(15 * time.Second)
		stop()
		want := []string{
			"connect: connection refused",
			"resyncing the store of <unspecified>: no resync today",
		}
		if !slices.Equal(observed, want) {
			t.Errorf("observed the errors %q, want %q", observed, want)
		}
	})
}

type resyncRefusingStore struct{ cache.Store }

func (resyncRefusingStore) Resync() error { return errors.New("no resync today") }
