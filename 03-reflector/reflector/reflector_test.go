package reflector

import (
	"context"
	"errors"
	"fmt"
	"os"
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
)

var errRefused = &os.SyscallError{Syscall: "connect", Err: syscall.ECONNREFUSED}

type runFunc = func(context.Context, cache.ListerWatcher, cache.ReflectorStore)

// both runs a test with our reflector and with client-go's, in fake time.
func both(t *testing.T, test func(t *testing.T, name string, run runFunc)) {
	t.Helper()
	for name, run := range map[string]runFunc{
		"client-go": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			cache.NewReflector(lw, nil, store, 0).RunWithContext(ctx)
		},
		"ours": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			New(Options{ListerWatcher: lw, Store: store}).Run(ctx)
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, name, run) })
		})
	}
}

// While the server refuses connections, client-go's reflector notices the end of
// its context when the pause is over, which can take a minute. Ours notices at once.
func TestItEndsAtOnceWhileTheServerRefusesConnections(t *testing.T) {
	both(t, func(t *testing.T, name string, run runFunc) {
		lw := &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return nil, errRefused
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				return nil, errRefused
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan time.Time, 1)
		go func() { run(ctx, lw, cache.NewStore(cache.MetaNamespaceKeyFunc)); ended <- time.Now() }()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		cancelled := time.Now()
		cancel()
		if took := (<-ended).Sub(cancelled); (took == 0) != (name == "ours") {
			t.Errorf("it took %v", took)
		}
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
		lw := &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.ConfigMapList{}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				w := watch.NewFakeWithChanSize(1, false)
				w.Action(watch.Bookmark, endOfList())
				watches = append(watches, w)
				return w, nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); run(ctx, lw, refusing{cache.NewStore(cache.MetaNamespaceKeyFunc)}) }()
		time.Sleep(10 * time.Minute)
		cancel()
		<-ended
		open := 0
		for _, w := range watches {
			if !w.IsStopped() {
				open++
			}
		}
		if len(watches) < 10 || (open == 0) != (name == "ours") {
			t.Errorf("%d of %d watches are open", open, len(watches))
		}
	})
}

// After an outage the first pause before a list is short, since only watches have
// failed.
func TestListsAndWatchesHaveAPauseEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		watches := 0
		lw := &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
			},
			WatchFuncWithContext: func(_ context.Context, options metav1.ListOptions) (watch.Interface, error) {
				if options.SendInitialEvents != nil {
					return nil, apierrors.NewBadRequest("no streams here")
				}
				if watches++; watches < 6 {
					return nil, errRefused
				}
				return nil, apierrors.NewResourceExpired("too old")
			},
		}
		var pauses []time.Duration
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go New(Options{ListerWatcher: lw, Store: cache.NewStore(cache.MetaNamespaceKeyFunc), Observer: observer.Func(
			func(e observer.Event) {
				if e.Kind == observer.BackingOff {
					pauses = append(pauses, e.Took)
				}
			})}).Run(ctx)
		time.Sleep(5 * time.Minute)
		cancel()
		synctest.Wait()
		if len(pauses) < 6 || pauses[4] < 8*defaultBackoffInit || pauses[5] > 2*defaultBackoffInit {
			t.Errorf("pauses: %v", pauses)
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
		want     string
	}{
		{&corev1.ConfigMap{}, []runtime.Object{&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod"}},
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "map"}}}, "[map]"},
		{widget("Widget", ""), []runtime.Object{widget("Gadget", "gadget"), widget("Widget", "widget")}, "[widget]"},
		{nil, []runtime.Object{widget("Gadget", "gadget"), widget("Table", "other-table")}, "[gadget other-table]"},
	} {
		synctest.Test(t, func(t *testing.T) {
			w := watch.NewFakeWithChanSize(10, false)
			lw := cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
				ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
					return &corev1.ConfigMapList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}}, nil
				},
				WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
					return w, nil
				},
			}, noStreams{})
			for _, obj := range test.send {
				w.Add(obj)
			}
			s := cache.NewStore(cache.MetaNamespaceKeyFunc)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			go New(Options{ListerWatcher: lw, Store: s, ExpectedType: test.expected}).Run(ctx)
			synctest.Wait()
			keys := s.ListKeys()
			if got := fmt.Sprint(keys); len(got) != len(test.want) || !strings.Contains(test.want, keys[0]) {
				t.Errorf("%T: stored %v, want %s", test.expected, got, test.want)
			}
		})
	}
}

// The answer to a LIST is not checked: its objects are stored, whatever their type.
// A list that is streamed is made of events, and those are.
func TestAListOfAnotherTypeIsStoredUnlessItIsStreamed(t *testing.T) {
	pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "pod", ResourceVersion: "1"}}
	pods := &corev1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "1"}, Items: []corev1.Pod{pod}}
	for name, run := range map[string]runFunc{
		"client-go": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			cache.NewReflector(lw, &corev1.ConfigMap{}, store, 0).RunWithContext(ctx)
		},
		"ours": func(ctx context.Context, lw cache.ListerWatcher, store cache.ReflectorStore) {
			New(Options{ListerWatcher: lw, Store: store, ExpectedType: &corev1.ConfigMap{}}).Run(ctx)
		},
	} {
		for streamed, want := range map[bool]string{true: "[]", false: "[pod]"} {
			synctest.Test(t, func(t *testing.T) {
				lw := &cache.ListWatch{
					ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
						return pods, nil
					},
					WatchFuncWithContext: func(_ context.Context, o metav1.ListOptions) (watch.Interface, error) {
						w := watch.NewFakeWithChanSize(2, false)
						switch {
						case o.SendInitialEvents == nil:
						case !streamed:
							return nil, apierrors.NewBadRequest("no streams here")
						default:
							w.Add(&pod)
							w.Action(watch.Bookmark, endOfList())
						}
						return w, nil
					},
				}
				s := cache.NewStore(cache.MetaNamespaceKeyFunc)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				go run(ctx, lw, s)
				synctest.Wait()
				if got := fmt.Sprint(s.ListKeys()); got != want {
					t.Errorf("%s, streamed %t: stored %s, want %s", name, streamed, got, want)
				}
			})
		}
	}
}

// An error handler hears of lists that fail, and of watches that cannot be opened.
// It does not hear of a server that refuses connections or has too much to do, nor
// of a watch that fails when it is open. Our observer sees all of them.
func TestWhichErrorsAreHandledAndWhichOnlyObserved(t *testing.T) {
	broken := func() (watch.Interface, error) {
		w := watch.NewFakeWithChanSize(1, false)
		w.Error(&metav1.Status{Code: 500, Reason: metav1.StatusReasonInternalError})
		return w, nil
	}
	refuse := func(err error) func() (watch.Interface, error) {
		return func() (watch.Interface, error) { return nil, err }
	}
	forbidden := apierrors.NewForbidden(corev1.Resource("configmaps"), "", errors.New("no"))
	for name, test := range map[string]struct {
		list    error
		watch   func() (watch.Interface, error)
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
			synctest.Test(t, func(t *testing.T) {
				requesting(t, 10*time.Minute, run, list, func(metav1.ListOptions) (watch.Interface, error) {
					return test.watch()
				})
			})
			if (handled > 0) != test.handled {
				t.Errorf("%s: handled %d times", name, handled)
			}
		}
		if seen < 10 {
			t.Errorf("%s: observed %d times", name, seen)
		}
	}
}

// A resync that the store refuses, and a stream that the server refuses, are seen.
func TestWhatIsRefusedIsObserved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		streams := 0
		lw := &cache.ListWatch{
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (watch.Interface, error) {
				if streams++; streams == 1 {
					return nil, errRefused
				}
				w := watch.NewFakeWithChanSize(1, false)
				w.Action(watch.Bookmark, endOfList())
				return w, nil
			},
		}
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		go New(Options{ListerWatcher: lw, Store: refusesResync{cache.NewStore(cache.MetaNamespaceKeyFunc)},
			ResyncPeriod: 10 * time.Second, Observer: observer.Func(func(e observer.Event) {
				if e.Kind == observer.Ended {
					seen = append(seen, e.Err.Error())
				}
			})}).Run(ctx)
		time.Sleep(15 * time.Second)
		cancel()
		synctest.Wait()
		if got := strings.Join(seen, "; "); got !=
			"connect: connection refused; resyncing the store of <unspecified>: no resync today" {
			t.Error(got)
		}
	})
}

type refusesResync struct{ cache.Store }

func (refusesResync) Resync() error { return errors.New("no resync today") }

// noStreams is a client that cannot stream lists.
type noStreams struct{}

func (noStreams) IsWatchListSemanticsUnSupported() bool { return true }
