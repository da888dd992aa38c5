// What the page docs/05-watchdog.md says about the parts of client-go that a
// WatchDog is made of, and those that it is not.

package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

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
		if deltas := obj.(cache.Deltas); len(deltas) != 3 || !isInInitialList {
			t.Errorf("popped %d deltas, initial: %t; want three, all initial", len(deltas), isInInitialList)
		}
		return nil
	})
	must.Do(t, err)
}

// A refusingStore takes no list.
type refusingStore struct{ cache.Store }

func (refusingStore) Replace([]any, string) error { return errors.New("no") }

// A list that comes over a watch, and is refused: nobody stops the watch.
func TestAReflectorForgetsToStopTheWatchOfARefusedList(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		streamed := apiwatch.NewFake()
		lw := &cache.ListWatch{
			ListWithContextFunc: func(context.Context, metav1.ListOptions) (runtime.Object, error) {
				return &corev1.ConfigMapList{}, nil
			},
			WatchFuncWithContext: func(context.Context, metav1.ListOptions) (apiwatch.Interface, error) {
				return streamed, nil
			},
		}
		reflector := cache.NewReflectorWithOptions(lw, nil, refusingStore{}, cache.ReflectorOptions{})
		ended := make(chan error, 1)
		go func() { ended <- reflector.ListAndWatchWithContext(t.Context()) }()
		end := configMap("", "2")
		end.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "true"}
		streamed.Action(apiwatch.Bookmark, end)
		err := <-ended
		expect.That(t, err != nil, "ListAndWatchWithContext() = nil, want that the list is refused")
		expect.That(t, !streamed.IsStopped(), "the watch is stopped now: inbox.Replace may return its error")
	})
}

func TestClientGosInformersHaveNoKeyFunction(t *testing.T) {
	options := reflect.TypeFor[cache.InformerOptions]()
	if fields := reflect.VisibleFields(options); slices.ContainsFunc(fields, func(f reflect.StructField) bool {
		return f.Type == reflect.TypeFor[cache.KeyFunc]()
	}) {
		t.Error("InformerOptions has a key function now")
	}
}
