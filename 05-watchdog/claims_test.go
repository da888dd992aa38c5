// Tests of what docs/05-watchdog.md says about client-go, on the pinned version. Most of them need
// no server, and run in fake time.

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

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/session/sessiontest"
)

var configMap = fakeapi.ConfigMap

// newInformer makes an informer of client-go on a fake server.
func newInformer(server *fakeapi.Server, handler cache.ResourceEventHandler) cache.Controller {
	_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: server, ObjectType: &corev1.ConfigMap{}, Handler: handler,
	})
	return controller
}

// run runs an informer of client-go until the test is over, or stop is called.
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

// With the gate AtomicFIFO on, client-go stores a whole list before it calls the handler for any
// object of it. With it and the gate of batches off, it stores each object right before its call.
func TestClientGoStoresAListBeforeItCallsTheHandler(t *testing.T) {
	wholeList := []string{"add a: [a b]", "add b: [a b]", "delete a: [b c]", "update b: [b c]", "add c: [b c]"}
	oneByOne := []string{"add a: [a]", "add b: [a b]", "delete a: [b]", "update b: [b]", "add c: [b c]"}
	for _, test := range []struct {
		atomic, batches bool     // feature gates
		want            []string // the calls, each with the names in the store at that moment
	}{{true, true, wholeList}, {true, false, wholeList}, {false, false, oneByOne}} {
		featurestesting.SetFeatureDuringTest(t, features.AtomicFIFO, test.atomic)
		featurestesting.SetFeatureDuringTest(t, features.InOrderInformersBatchProcess, test.batches)
		synctest.Test(t, func(t *testing.T) {
			var calls record.Lines
			var store cache.Store
			look := func(call, key string) {
				stored := slices.Sorted(slices.Values(store.ListKeys()))
				calls.Add("%s", strings.ReplaceAll(fmt.Sprintf("%s %s: %s", call, key, stored), "ns/", ""))
			}
			keyOf := func(obj any) string {
				key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
				must.NoError(t, err)
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
			// Only one object is deleted: the deletes of a list come in any order.
			server.Set(configMap("b", "2"), configMap("c", "2"))
			fakeapi.Expire(w)
			server.NextWatch()
			calls.Want(t, test.want...)
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

// Zero means never. A negative period does not.
func TestClientGoResyncsWithoutAPauseIfThePeriodIsNegative(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var updates int
		var start time.Time // of the fake clock, which stands still while a goroutine runs
		took := make(chan time.Duration, 1)
		_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: fakeapi.New(configMap("a", "1")),
			ObjectType:    &corev1.ConfigMap{},
			Handler: cache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { start = time.Now() },
				UpdateFunc: func(any, any) {
					updates++
					if updates == 100 {
						took <- time.Since(start)
					}
				},
			},
			ResyncPeriod: -1,
		})
		must.Run(t, controller.RunWithContext)
		select {
		case d := <-took:
			if d != 0 {
				t.Errorf("100 resyncs took %v, want 0", d)
			}
		case <-time.After(24 * time.Hour):
			t.Error("fewer than 100 resyncs in a day")
		}
	})
}

func TestClientGosHasSyncedMeansHandled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := make(chan struct{})
		controller, _ := run(t, fakeapi.New(configMap("a", "1")),
			cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }})
		synctest.Wait()
		if controller.HasSynced() {
			t.Error("HasSynced() = true while the handler is busy, want false")
		}
		close(busy)
		synctest.Wait()
		if !controller.HasSynced() {
			t.Error("HasSynced() = false after the handler has returned, want true")
		}
	})
}

// panicsWith runs an informer and returns the value that RunWithContext panics with.
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
		if p != "ouch" {
			t.Errorf("RunWithContext panicked with %v, want ouch", p)
		}
	})
}

func TestClientGoFindsOutThatThereIsNoHandlerAtTheFirstEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := fmt.Sprint(panicsWith(t, nil))
		if !strings.Contains(p, "nil pointer") {
			t.Errorf("RunWithContext panicked with %s, want an error that contains %q", p, "nil pointer")
		}
	})
}

// With a DeltaFIFO, and with the queue of the informers. In old versions, the option RetryOnError put
// the object back into the queue. (A test of chapter 02 checks that the option is gone.)
func TestClientGosLoopDropsWhatProcessRefuses(t *testing.T) {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for name, newQueue := range map[string]func() cache.Queue{
		"DeltaFIFO": func() cache.Queue { return cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}) },
		"RealFIFO": func() cache.Queue {
			return cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			var popped []string
			refuse := func(deltas []cache.Delta) error {
				for _, delta := range deltas {
					popped = append(popped, delta.Object.(*corev1.ConfigMap).Name)
				}
				return errors.New("no")
			}
			controller := cache.New(&cache.Config{
				Queue:         newQueue(),
				ListerWatcher: fakeapi.New(configMap("a", "1"), configMap("b", "2")),
				ObjectType:    &corev1.ConfigMap{},
				Process:       func(obj any, _ bool) error { return refuse(obj.(cache.Deltas)) },
				ProcessBatch:  func(deltas []cache.Delta, _ bool) error { return refuse(deltas) },
			})
			must.Run(t, controller.RunWithContext)
			time.Sleep(time.Hour)
			synctest.Wait()
			if want := []string{"a", "b"}; !slices.Equal(popped, want) {
				t.Errorf("%s: Process was called for %q, want %q", name, popped, want)
			}
		})
	}
}

func TestClientGosInformerWaitsForItsHandlerForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy, ended := make(chan struct{}), make(chan struct{})
		_, stop := run(t, fakeapi.New(configMap("a", "1")),
			cache.ResourceEventHandlerFuncs{AddFunc: func(any) { <-busy }})
		synctest.Wait()
		go func() {
			defer close(ended)
			stop()
		}()
		select {
		case <-ended:
			t.Error("RunWithContext has returned before the handler")
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
		if lists := server.Lists(); lists != 2 {
			t.Errorf("Lists() = %d, want 2: one for each Run", lists)
		}
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

// A pop has one flag for all its deltas. So the add after the delete counts as initial, too.
func TestDeltaFIFOTakesAllOfAPopForInitial(t *testing.T) {
	queue := cache.NewDeltaFIFOWithOptions(
		cache.DeltaFIFOOptions{KnownObjects: cache.NewStore(cache.MetaNamespaceKeyFunc)})
	must.NoError(t, errors.Join(
		queue.Replace([]any{configMap("a", "1")}, "1"),
		queue.Delete(configMap("a", "2")),
		queue.Add(configMap("a", "3")),
	))
	_, err := queue.Pop(func(obj any, isInInitialList bool) error {
		n := len(obj.(cache.Deltas))
		if n != 3 || !isInInitialList {
			t.Errorf("Pop gave %d deltas, isInInitialList = %t; want 3, true", n, isInInitialList)
		}
		return nil
	})
	must.NoError(t, err)
}

func TestClientGosSourceSays(t *testing.T) {
	must.FindInClientGo(t, "controller.go", "The events are informational only, so you can't return an error")
}

func TestClientGosInformersHaveNoKeyFunctionAndNoErrorHandler(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[cache.InformerOptions]()) {
		switch field.Type {
		case reflect.TypeFor[cache.KeyFunc]():
			t.Errorf("InformerOptions.%s is a key function, want none", field.Name)
		case reflect.TypeFor[cache.WatchErrorHandler](), reflect.TypeOf(cache.Config{}.WatchErrorHandlerWithContext):
			t.Errorf("InformerOptions.%s is an error handler, want none", field.Name)
		}
	}
}

// A real server sends the list as a stream of events, and the reflector checks the type of each
// event. It drops the objects, and the bookmark that ends the list.
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
	for range 10 { // the time in which ten other informers sync
		_, right := informer(&corev1.ConfigMap{})
		must.Until(t, "it has synced", right.HasSynced)
	}
	if wrong.HasSynced() {
		t.Error("HasSynced() = true of the informer with the wrong type, want false")
	}
	if keys := store.ListKeys(); len(keys) != 0 {
		t.Errorf("ListKeys() = %q, want none", keys)
	}
}
