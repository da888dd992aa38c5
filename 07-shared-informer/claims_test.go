// What the pages docs/07-shared-informer*.md say about client-go and is shown
// nowhere else: informer's own tests hold both informers to the same contract.

package main

import (
	"context"
	"runtime/debug"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// both make an informer, client-go's and ours.
var both = map[string]func(cache.ListerWatcher, runtime.Object,
	cache.SharedIndexInformerOptions) cache.SharedIndexInformer{
	"client-go": cache.NewSharedIndexInformerWithOptions,
	"ours": func(lw cache.ListerWatcher, obj runtime.Object,
		options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return informer.New(lw, obj, options)
	},
}

// start runs an informer and waits until its store has the first list. stop ends
// it, and waits for its end.
func start(t *testing.T, shared cache.SharedInformer) (stop func()) {
	t.Helper()
	stop = must.Run(t, shared.RunWithContext)
	if !cache.WaitFor(t.Context(), "", shared.HasSyncedChecker()) {
		t.Fatal(t.Context().Err())
	}
	return stop
}

// taken runs an informer whose index function does not return from one object,
// and counts the events that are taken off the watch by then.
func taken(t *testing.T, name string) int {
	t.Helper()
	release := make(chan struct{})
	server := fakeapi.New()
	in := both[name](server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: cache.Indexers{
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
			w.Add(fakeapi.ConfigMap(object, "2")) // returns when it is taken
			n.Add(1)
		}
	}()
	synctest.Wait()
	defer synctest.Wait()
	defer close(release)
	return int(n.Load())
}

// The reflector of client-go's informer writes to a queue, and the index
// function runs at its other end. Ours runs it itself.
func TestASlowIndexFunctionHoldsUpOurWatchAndNotClientGos(t *testing.T) {
	for name, want := range map[string]int{"client-go": 3, "ours": 1} {
		synctest.Test(t, func(t *testing.T) {
			n := taken(t, name)
			expect.That(t, n == want, "%s: %d events were taken, want %d", name, n, want)
		})
	}
}

func TestATransformRunsOnTheGoroutineThatReadsTheWatch(t *testing.T) {
	for name, newInformer := range both {
		synctest.Test(t, func(t *testing.T) {
			var onReflector []bool // of each call
			server := fakeapi.New()
			in := newInformer(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
			must.Do(t, in.SetTransform(func(obj any) (any, error) {
				// ListAndWatch and ListAndWatchWithContext of client-go's reflector, ListAndWatch of ours.
				onReflector = append(onReflector,
					strings.Contains(string(debug.Stack()), ".(*Reflector).ListAndWatch"))
				return obj, nil
			}))
			defer start(t, in)()
			server.NextWatch().Add(fakeapi.ConfigMap("a", "2"))
			synctest.Wait()
			expect.That(t, slices.Equal(onReflector, []bool{true}),
				"%s: transformed on the reflector's goroutine: %t, want once, and there", name, onReflector)
		})
	}
}

// These are the events of the step classic. In both informers a handler that is
// stuck holds up nobody, and gets all of them later.
func TestAHandlerThatWasStuckForAMomentGetsEachChange(t *testing.T) {
	for name, newInformer := range both {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := fakeapi.New(fakeapi.ConfigMap("berlin", "1"))
				in := newInformer(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
				fast, slow, stuck := &record.Lines{}, &record.Lines{}, make(chan struct{})
				held := record.Handler(slow)
				add := held.AddFunc
				held.AddFunc = func(obj any, first bool) { <-stuck; add(obj, first) }
				for _, handler := range []cache.ResourceEventHandler{record.Handler(fast), held} {
					_, err := in.AddEventHandler(handler)
					must.Do(t, err)
				}
				defer start(t, in)()
				w := server.NextWatch()
				w.Add(fakeapi.ConfigMap("paris", "2"))
				w.Modify(fakeapi.ConfigMap("berlin", "3"))
				w.Modify(fakeapi.ConfigMap("berlin", "4"))
				w.Delete(fakeapi.ConfigMap("paris", "5"))
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
	expect.That(t, err == nil && r != nil, "AddEventHandler(nil) = %v, %v; want a registration", r, err)
}

// The constructors of the old tutorials are there, and make the same thing.
func TestTheOldConstructorsMakeTheSameInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := fakeapi.New(fakeapi.ConfigMap("a", "1"))
		for _, in := range []cache.SharedInformer{
			cache.NewSharedInformer(server, &corev1.ConfigMap{}, 0),
			cache.NewSharedIndexInformer(server, &corev1.ConfigMap{}, 0, cache.Indexers{}),
			cache.NewSharedIndexInformerWithOptions(server, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{}),
		} {
			_, ok := in.(cache.SharedIndexInformer)
			expect.That(t, ok, "%T is no SharedIndexInformer", in)
			start(t, in)()
		}
	})
}

// unusedClient reaches no server: these tests ask nothing.
func unusedClient(t *testing.T) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	must.Do(t, err)
	return client
}

func TestAFactoryKeepsTheFirstInformerOfAType(t *testing.T) {
	ours := informer.New(fakeapi.New(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	hand := func(factory informers.SharedInformerFactory) cache.SharedIndexInformer {
		return factory.InformerFor(&corev1.ConfigMap{},
			func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer { return ours })
	}
	early := informers.NewSharedInformerFactory(unusedClient(t), 0)
	if got := hand(early); got != ours || early.Core().V1().ConfigMaps().Lister() == nil {
		t.Errorf("handed over first, the factory has %T", got)
	}
	late := informers.NewSharedInformerFactory(unusedClient(t), 0)
	late.Core().V1().ConfigMaps().Lister()
	got := hand(late)
	expect.That(t, got != ours, "handed over after somebody had asked for a lister, ours was taken")
}

// What a factory does with its informers it does with ours: it starts it once,
// waits for it, and waits for its end.
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
		must.Do(t, factory.WaitForCacheSyncWithContext(ctx).AsError())
		synctest.Wait()
		lists := server.Lists()
		expect.That(t, lists == 1, "%d lists, want 1", lists)
		_, err := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("ns").Get("a")
		expect.That(t, err == nil, "%v", err)
		cancel()
		factory.Shutdown()
		expect.That(t, ours.IsStopped(), "it has not stopped")
	})
}
