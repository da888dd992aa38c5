// What the page docs/05-watchdog.md says about client-go, shown on the pinned
// version. Most of it needs no server, and runs in fake time.

package main

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/features"
	featurestesting "k8s.io/client-go/features/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/session/sessiontest"
)

var configMap = fakeapi.ConfigMap

// newInformer makes an informer of client-go's on a fake server.
func newInformer(server *fakeapi.Server, handler cache.ResourceEventHandler) cache.Controller {
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: server, ObjectType: &corev1.ConfigMap{}, Handler: handler,
	})
	return controller
}

// run runs an informer of client-go's until the test is over, or stop is called.
func run(t *testing.T, server *fakeapi.Server,
	handler cache.ResourceEventHandler) (controller cache.Controller, stop func()) {
	controller = newInformer(server, handler)
	return controller, must.Run(t, controller.RunWithContext)
}

func TestClientGoDecidesByItsStoreToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines record.Lines
		server := fakeapi.New(configMap("a", "1"))
		run(t, server, record.Handler(&lines))
		w := server.NextWatch()
		w.Add(configMap("a", "2"))
		w.Modify(configMap("b", "3"))
		lines.Want(t, "OnAdd a 1 first", "OnUpdate a 2, was 1", "OnAdd b 3")
	})
}

func TestClientGoDeliversAllAgainAfterARelist(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines record.Lines
		server := fakeapi.New(configMap("a", "1"))
		run(t, server, record.Handler(&lines))
		fakeapi.Expire(server.NextWatch())
		server.NextWatch()
		lines.Want(t, "OnAdd a 1 first", "OnUpdate a 1, was 1")
	})
}

// A whole list is stored before the handler is called for any of it. Without the gate and
// without batches, each object is stored before its own call.
func TestClientGoStoresAListBeforeItCallsTheHandler(t *testing.T) {
	for on, want := range map[bool][]string{
		true:  {"add a: [a b]", "add b: [a b]", "delete a: [b c]", "update b: [b c]", "add c: [b c]"},
		false: {"add a: [a]", "add b: [a b]", "delete a: [b]", "update b: [b]", "add c: [b c]"},
	} {
		featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, on)
		featurestesting.SetFeatureDuringTest(t, features.InOrderInformersBatchProcess, on)
		synctest.Test(t, func(t *testing.T) {
			var calls record.Lines
			var store cache.Store
			look := func(call, key string) {
				stored := slices.Sorted(slices.Values(store.ListKeys()))
				calls.Add("%s", strings.ReplaceAll(fmt.Sprintf("%s %s: %s", call, key, stored), "ns/", ""))
			}
			keyOf := func(obj any) string {
				key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
				must.Do(t, err)
				return key
			}
			server := fakeapi.New(configMap("a", "1"), configMap("b", "1"))
			store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
				ListerWatcher: server, ObjectType: &corev1.ConfigMap{}, Handler: cache.ResourceEventHandlerFuncs{
					AddFunc:    func(obj any) { look("add", keyOf(obj)) },
					UpdateFunc: func(_, obj any) { look("update", keyOf(obj)) },
					DeleteFunc: func(obj any) { look("delete", keyOf(obj)) },
				},
			})
			must.Run(t, controller.RunWithContext)
			w := server.NextWatch()
			// One delete alone: several come out of a map, in any order.
			server.Set(configMap("b", "2"), configMap("c", "2"))
			fakeapi.Expire(w)
			server.NextWatch()
			calls.Want(t, want...)
		})
	}
}

func TestClientGoMakesOneUpdateOfAnotherObjectOfTheSameName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines record.Lines
		before, after := configMap("a", "1"), configMap("a", "2")
		before.UID, after.UID = "one", "another"
		server := fakeapi.New(before)
		run(t, server, cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(oldObj, newObj any) {
				lines.Add("%s, was %s", newObj.(metav1.Object).GetUID(), oldObj.(metav1.Object).GetUID())
			},
			DeleteFunc: func(any) { lines.Add("deleted") },
		})
		w := server.NextWatch()
		server.Set(after)
		fakeapi.Expire(w)
		server.NextWatch()
		lines.Want(t, "another, was one")
	})
}

// Zero means never, and one would expect the same of less than zero.
func TestClientGoResyncsWithoutAPauseIfThePeriodIsNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var updates int
		var start time.Time // on a clock that stands still while there is something to do
		took := make(chan time.Duration, 1)
		_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: fakeapi.New(configMap("a", "1")),
			ObjectType:    &corev1.ConfigMap{},
			Handler: cache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { start = time.Now() },
				UpdateFunc: func(any, any) {
					if updates++; updates == 100 {
						took <- time.Since(start)
					}
				},
			},
			ResyncPeriod: -1,
		})
		must.Run(t, controller.RunWithContext)
		select {
		case d := <-took:
			expect.That(t, d == 0, "100 resyncs took %v, want no time at all", d)
		case <-time.After(24 * time.Hour):
			t.Error("there are no 100 resyncs in a day")
		}
	})
}

func TestClientGosHasSyncedMeansHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		controller, _ := run(t, fakeapi.New(configMap("a", "1")),
			cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }})
		synctest.Wait()
		expect.That(t, !controller.HasSynced(), "HasSynced() = true while the handler is busy")
		close(busy)
		synctest.Wait()
		expect.That(t, controller.HasSynced(), "HasSynced() = false")
	})
}

// panicsWith runs an informer and returns what its Run panics with.
func panicsWith(t *testing.T, handler cache.ResourceEventHandler) (p any) {
	controller := newInformer(fakeapi.New(configMap("a", "1")), handler)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	defer func() { p = recover() }()
	controller.RunWithContext(ctx)
	return nil
}

func TestAHandlerThatPanicsEndsClientGosInformer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := panicsWith(t, cache.ResourceEventHandlerFuncs{AddFunc: func(any) { panic("ouch") }})
		expect.That(t, p == "ouch", "RunWithContext panicked with %v, want ouch", p)
	})
}

func TestClientGoFindsOutThatThereIsNoHandlerAtTheFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fmt.Sprint(panicsWith(t, nil))
		expect.That(t, strings.Contains(p, "nil pointer"), "RunWithContext panicked with %s, want a nil pointer", p)
	})
}

// Once there was RetryOnError: then the queue got it back. (That it is gone is
// tested in chapter 02.)
func TestClientGosLoopDropsWhatProcessRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var popped []string
		controller := cache.New(&cache.Config{
			Queue:         cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
			ListerWatcher: fakeapi.New(configMap("a", "1"), configMap("b", "2")),
			ObjectType:    &corev1.ConfigMap{},
			Process: func(obj any, _ bool) error {
				popped = append(popped, obj.(cache.Deltas).Newest().Object.(*corev1.ConfigMap).Name)
				return errors.New("no")
			},
		})
		must.Run(t, controller.RunWithContext)
		time.Sleep(time.Hour)
		synctest.Wait()
		want := []string{"a", "b"}
		expect.That(t, slices.Equal(popped, want), "popped %q, want %q", popped, want)
	})
}

func TestClientGosInformerWaitsForItsHandlerForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, ended := make(chan struct{}), make(chan struct{})
		_, stop := run(t, fakeapi.New(configMap("a", "1")),
			cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }})
		synctest.Wait()
		go func() { defer close(ended); stop() }()
		select {
		case <-ended:
			t.Error("RunWithContext has returned")
		case <-time.After(24 * time.Hour):
		}
		close(busy)
		<-ended
	})
}

func TestClientGosInformerCanBeRunTwiceAndSaysNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines record.Lines
		server := fakeapi.New(configMap("a", "1"))
		controller, _ := run(t, server, record.Handler(&lines))
		server.NextWatch()
		synctest.Wait()
		must.Run(t, controller.RunWithContext)
		server.NextWatch()
		lines.Want(t, "OnAdd a 1 first", "OnUpdate a 1, was 1")
		lists := server.Lists()
		expect.That(t, lists == 2, "%d lists, want one for each Run", lists)
	})
}

func TestClientGoPassesAWrongTypeOnFromAList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines record.Lines
		pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "web"}}
		run(t, fakeapi.New(pod), cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { lines.Add("asked for *v1.ConfigMap, got %T", obj) },
		})
		lines.Want(t, "asked for *v1.ConfigMap, got *v1.Pod")
	})
}

// One flag for the whole pop: what came back counts as initial, too.
func TestDeltaFIFOTakesAllOfAPopForInitial(t *testing.T) {
	queue := cache.NewDeltaFIFOWithOptions(
		cache.DeltaFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)})
	must.Do(t, errors.Join(
		queue.Replace([]any{configMap("a", "1")}, "1"),
		queue.Delete(configMap("a", "2")),
		queue.Add(configMap("a", "3")),
	))
	_, err := queue.Pop(func(obj any, isInInitialList bool) error {
		n := len(obj.(cache.Deltas))
		expect.That(t, n == 3 && isInInitialList, "popped %d deltas, initial: %t; want 3, true", n, isInInitialList)
		return nil
	})
	must.Do(t, err)
}

func TestClientGosInformersHaveNoKeyFunction(t *testing.T) {
	options := reflect.TypeFor[cache.InformerOptions]()
	if fields := reflect.VisibleFields(options); slices.ContainsFunc(fields, func(f reflect.StructField) bool {
		return f.Type == reflect.TypeFor[cache.KeyFunc]()
	}) {
		t.Error("InformerOptions has a key function now")
	}
}

// From a real server the list comes as a stream, and there the type is looked
// at. What does not fit is dropped; so is the bookmark that ends the stream.
func TestClientGoNeverSyncsIfTheTypeIsWrong(t *testing.T) {
	s := sessiontest.Open(t) // with one ConfigMap, the cluster's own
	configMaps := cache.NewListWatchFromClient(s.Client.CoreV1().RESTClient(), "configmaps", s.Namespace,
		fields.Everything())
	informer := func(objectType runtime.Object) (cache.Store, cache.Controller) {
		store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: configMaps, ObjectType: objectType, Handler: cache.ResourceEventHandlerFuncs{},
		})
		must.Run(t, controller.RunWithContext)
		return store, controller
	}
	store, wrong := informer(&corev1.Pod{})
	for range 10 { // as long as ten others take, one after the other
		_, right := informer(&corev1.ConfigMap{})
		must.Until(t, "it has synced", right.HasSynced)
	}
	if keys := store.ListKeys(); wrong.HasSynced() || len(keys) != 0 {
		t.Errorf("synced: %t, the store holds %v; want neither", wrong.HasSynced(), keys)
	}
}
