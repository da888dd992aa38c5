// Index functions that return other values, or fail, when they are called again for the same
// object. An index has to use the values of the call when the object was stored.

package store_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/07-shared-informer/store"
	"example.com/informer/scripts/harness/must"
)

// byApp is an index function by the label app. It fails for a pod without the label.
func byApp(obj any) ([]string, error) {
	app := obj.(*corev1.Pod).Labels["app"]
	if app == "" {
		return nil, errors.New("a pod without an app")
	}
	return []string{app}, nil
}

// Many pods are stored under web. Then somebody changes all of them in the store. They are deleted
// or updated, and other pods get their slots.
func TestAnIndexForgetsAnObjectThatSomebodyHasChanged(t *testing.T) {
	const many = 1000 // slots of several pages
	for _, changed := range []string{"db", ""} {
		for name, remove := range map[string]func(cache.Indexer, int) error{
			"Delete": func(s cache.Indexer, i int) error { return s.Delete(indexertest.Pod(i, 0)) },
			"Update": func(s cache.Indexer, i int) error { return s.Update(indexertest.PodOfApp(i, "mail")) },
		} {
			t.Run(fmt.Sprintf("%s/%q", name, changed), func(t *testing.T) {
				s := store.New(store.Options{Indexers: cache.Indexers{"app": byApp}})
				for i := range many {
					must.NoError(t, s.Add(indexertest.PodOfApp(i, "web")))
				}
				for _, obj := range s.List() {
					obj.(*corev1.Pod).Labels["app"] = changed
				}
				for i := range many {
					must.NoError(t, remove(s, i))
				}
				for round := range 2 { // first without pages, after a delete; then with other pods in the slots
					pods, err := s.ByIndex("app", "web")
					must.NoError(t, err)
					if len(pods) > 0 {
						t.Errorf("round %d: ByIndex returns %d pods, want 0; the first one is %v",
							round, len(pods), pods[0])
					}
					for i := range many {
						must.NoError(t, s.Add(indexertest.PodOfApp(many+i, "payments-db")))
					}
				}
			})
		}
	}
}

// The index function returns random values. The index must have the values that the function
// returned for the last write of each object.
func TestAnIndexGoesByWhatItsFunctionSaidOfAWrite(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	computed := map[string][]string{} // the values of the last write, by key
	s := store.New(store.Options{Indexers: cache.Indexers{"random": func(obj any) ([]string, error) {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		computed[key] = nil
		for range random.IntN(4) {
			computed[key] = append(computed[key], strconv.Itoa(random.IntN(5))) // some values twice
		}
		return computed[key], nil
	}}})
	for i := range 5000 {
		p := indexertest.Pod(random.IntN(300), i)
		if random.IntN(3) > 0 {
			must.NoError(t, s.Update(p))
		} else {
			must.NoError(t, s.Delete(p))
			delete(computed, p.Namespace+"/"+p.Name)
		}
		value := strconv.Itoa(i % 5)
		var want []string
		for _, key := range slices.Sorted(maps.Keys(computed)) {
			if slices.Contains(computed[key], value) {
				want = append(want, key)
			}
		}
		got, err := s.IndexKeys("random", value)
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("after %d writes: IndexKeys(random, %s) = %q, %v; want %q, nil", i+1, value, got, err, want)
		}
	}
}
