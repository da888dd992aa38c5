// Tests of what the pages docs/07-shared-informer*.md say about client-go. The tests of package
// informer hold both informers to the same contract. Here is the rest.

package main

import (
	"context"
	"reflect"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// newInformers are the constructors of client-go's informer, and of ours with several sets of parts.
var newInformers = map[string]func(cache.ListerWatcher, runtime.Object,
	cache.SharedIndexInformerOptions) cache.SharedIndexInformer{
	"client-go": cache.NewSharedIndexInformerWithOptions,
	"deltafifo": informer.Parts{Queue: informer.DeltaFIFO}.New,
	"part-one":  informer.Default.New,
	"part-two":  parttwo.Parts.New,
}

// start runs an informer and waits until its store has the first list. stop ends the informer, and
// waits for its end.
func start(t *testing.T, shared cache.SharedInformer) (stop func()) {
	t.Helper()
	stop = must.Run(t, shared.RunWithContext)
	if !cache.WaitFor(t.Context(), "", shared.HasSyncedChecker()) {
		t.Fatalf("WaitFor() = false, want true; the error of the context: %v", t.Context().Err())
	}
	return stop
}

// taken runs an informer whose index function does not return for the first of three events. It
// returns the number of events that the informer has taken off the watch by then.
func taken(t *testing.T, name string) int {
	t.Helper()
	release := make(chan struct{})
	server := fakeapi.New()
	in := newInformers[name](server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
		"slow": func(obj any) ([]string, error) {
			if obj.(*corev1.ConfigMap).Name == "slow" {
				<-release
			}
			return nil, nil
		},
	}})
	defer start(t, in)()
	w := server.NextWatch()
	var n atomic.Int32
	go func() {
		for _, object := range []string{"slow", "b", "c"} {
			w.Add(fakeapi.ConfigMap(object, "2")) // returns when the informer has taken the event
			n.Add(1)
		}
	}()
	synctest.Wait()
	defer synctest.Wait()
	defer close(release)
	return int(n.Load())
}

// The reflector writes to a queue, and another goroutine calls the index function. With the parts of
// Part II, the goroutine of the reflector calls it.
func TestASlowIndexFunctionHoldsUpOurWatchAndNotClientGos(t *testing.T) {
	for name, want := range map[string]int{"client-go": 3, "part-one": 3, "part-two": 1} {
		synctest.Test(t, func(t *testing.T) {
			if n := taken(t, name); n != want {
				t.Errorf("%s: the informer has taken %d events off the watch, want %d", name, n, want)
			}
		})
	}
}

func TestATransformRunsOnTheGoroutineThatReadsTheWatch(t *testing.T) {
	for name, newInformer := range newInformers {
		synctest.Test(t, func(t *testing.T) {
			var onReflector []bool // for each call: whether it was on the reflector's goroutine
			server := fakeapi.New()
			in := newInformer(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
			must.NoError(t, in.SetTransform(func(obj any) (any, error) {
				// client-go's reflector has ListAndWatch and ListAndWatchWithContext, ours has
				// ListAndWatch.
				onReflector = append(onReflector,
					strings.Contains(string(debug.Stack()), ".(*Reflector).ListAndWatch"))
				return obj, nil
			}))
			defer start(t, in)()
			server.NextWatch().Add(fakeapi.ConfigMap("a", "2"))
			synctest.Wait()
			if want := []bool{true}; !slices.Equal(onReflector, want) {
				t.Errorf("%s: calls of the transform, on the reflector's goroutine: %t, want %t",
					name, onReflector, want)
			}
		})
	}
}

// These are the events of the step classic. In each informer, a handler that is stuck does not
// delay the other, and gets all events later. Each event comes when the one before is handled: the
// a DeltaFIFO groups the changes that wait by object.
func TestAHandlerThatWasStuckForAMomentGetsEachChange(t *testing.T) {
	for name, newInformer := range newInformers {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := fakeapi.New(fakeapi.ConfigMap("berlin", "1"))
				in := newInformer(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
				fast, slow, stuck := &record.Lines{}, &record.Lines{}, make(chan struct{})
				held := record.Handler(slow)
				add := held.AddFunc
				held.AddFunc = func(obj any, first bool) {
					<-stuck
					add(obj, first)
				}
				for _, handler := range []cache.ResourceEventHandler{record.Handler(fast), held} {
					_, err := in.AddEventHandler(handler)
					must.NoError(t, err)
				}
				defer start(t, in)()
				w := server.NextWatch()
				for _, event := range []watch.Event{
					{Type: watch.Added, Object: fakeapi.ConfigMap("paris", "2")},
					{Type: watch.Modified, Object: fakeapi.ConfigMap("berlin", "3")},
					{Type: watch.Modified, Object: fakeapi.ConfigMap("berlin", "4")},
					{Type: watch.Deleted, Object: fakeapi.ConfigMap("paris", "5")},
				} {
					w.Action(event.Type, event.Object)
					synctest.Wait()
				}
				calls := []string{"OnAdd berlin 1 first", "OnAdd paris 2", "OnUpdate berlin 3, was 1",
					"OnUpdate berlin 4, was 3", "OnDelete paris 5"}
				fast.Want(t, calls...)
				slow.Want(t)
				close(stuck)
				slow.Want(t, calls...)
			})
		})
	}
}

func TestClientGoAcceptsANilHandler(t *testing.T) {
	in := cache.NewSharedIndexInformerWithOptions(fakeapi.New(), &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{})
	r, err := in.AddEventHandler(nil)
	if err != nil || r == nil {
		t.Errorf("AddEventHandler(nil) = %v, %v; want a registration, nil", r, err)
	}
}

// The constructors of old tutorials still exist, and make the same informer.
// The reflector belongs to the controller, which makes it when it runs. The queue and Process are in
// the controller's Config.
func TestWhereClientGosReflectorIs(t *testing.T) {
	theReflector := reflect.TypeFor[*cache.Reflector]()
	in := cache.NewSharedIndexInformer(fakeapi.New(), &corev1.ConfigMap{}, 0, cache.Indexers{})
	for _, field := range reflect.VisibleFields(reflect.TypeOf(in).Elem()) {
		if field.Type == theReflector {
			t.Errorf("%T has a reflector, in its field %s", in, field.Name)
		}
	}
	controller := cache.New(&cache.Config{
		ListerWatcher: fakeapi.New(), ObjectType: &corev1.ConfigMap{},
		Queue:   cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{AtomicEvents: true}),
		Process: func(any, bool) error { return nil },
	})
	field := reflect.ValueOf(controller).Elem().FieldByName("reflector")
	if field.Type() != theReflector || !field.IsNil() {
		t.Errorf("before it runs, the field reflector of %T is %v, want no reflector yet", controller, field)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	controller.RunWithContext(ended)
	if field.IsNil() {
		t.Errorf("after it ran, %T has no reflector", controller)
	}
	for _, name := range []string{"Queue", "queue", "Process", "process"} {
		if _, exists := theReflector.Elem().FieldByName(name); exists {
			t.Errorf("the reflector has a field %s", name)
		}
	}
	store, _ := theReflector.Elem().FieldByName("store")
	if store.Type != reflect.TypeFor[cache.ReflectorStore]() {
		t.Errorf("the store of the reflector is a %v, want a ReflectorStore", store.Type)
	}
}

func TestClientGosProcessorGetsNotifications(t *testing.T) {
	must.FindInClientGo(t, "shared_informer.go",
		"return processDeltas(logger, s, s.indexer, deltas, isInInitialList, s.keyFunc)",
		"s.processor.distribute(addNotification{newObj: obj, isInInitialList: isInInitialList}, false)",
		"s.processor.distribute(updateNotification{oldObj: old, newObj: new}, isSync)",
		"s.processor.distribute(deleteNotification{oldObj: old}, false)")
}

func TestTheOldConstructorsMakeTheSameInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		for _, in := range []cache.SharedInformer{
			cache.NewSharedInformer(server, &corev1.ConfigMap{}, 0),
			cache.NewSharedIndexInformer(server, &corev1.ConfigMap{}, 0, cache.Indexers{}),
			cache.NewSharedIndexInformerWithOptions(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{}),
		} {
			if _, ok := in.(cache.SharedIndexInformer); !ok {
				t.Errorf("%T is not a SharedIndexInformer", in)
			}
			start(t, in)()
		}
	})
}

// unusedClient reaches no server: these tests make no requests.
func unusedClient(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	must.NoError(t, err)
	return client
}

func TestAFactoryKeepsTheFirstInformerOfAType(t *testing.T) {
	ours := informer.New(fakeapi.New(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	giveOurs := func(factory informers.SharedInformerFactory) cache.SharedIndexInformer {
		return factory.InformerFor(&corev1.ConfigMap{},
			func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return ours })
	}
	early := informers.NewSharedInformerFactory(unusedClient(t), 0)
	if got := giveOurs(early); got != ours {
		t.Errorf("InformerFor() = %T before any other request, want our informer %T", got, ours)
	}
	if early.Core().V1().ConfigMaps().Lister() == nil {
		t.Error("Lister() = nil with our informer, want a lister")
	}
	late := informers.NewSharedInformerFactory(unusedClient(t), 0)
	late.Core().V1().ConfigMaps().Lister()
	if got := giveOurs(late); got == ours {
		t.Errorf("InformerFor() = %T after Lister(), want client-go's informer", got)
	}
}

// The factory treats our informer like its own: it starts the informer once, waits for its sync,
// and waits for its end.
func TestAFactoryStartsOurInformerOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		factory := informers.NewSharedInformerFactory(unusedClient(t), 0)
		ours := factory.InformerFor(&corev1.ConfigMap{},
			func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
				return informer.New(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
			})
		ctx, cancel := context.WithCancel(t.Context())
		factory.StartWithContext(ctx)
		factory.StartWithContext(ctx)
		must.NoError(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		synctest.Wait()
		if lists := server.Lists(); lists != 1 {
			t.Errorf("Lists() = %d, want 1", lists)
		}
		if _, err := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("ns").Get("a"); err != nil {
			t.Errorf("Get(a) of the lister: %v, want no error", err)
		}
		cancel()
		factory.Shutdown()
		if !ours.IsStopped() {
			t.Error("IsStopped() = false after Shutdown, want true")
		}
	})
}
