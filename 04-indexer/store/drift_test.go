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

	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/must"
)

// The index functions of these tests answer something else, or fail, when they
// are asked about an object once more. An index has to go by what it was told
// when the object was stored.

func byApp(obj any) ([]string, error) {
	app := obj.(*corev1.Pod).Labels["app"]
	if app == "" {
		return nil, errors.New("a pod without an app")
	}
	return []string{app}, nil
}

func app(i int, app string) *corev1.Pod {
	p := pod(i, i)
	p.Labels = map[string]string{"app": app}
	return p
}

// Many pods are stored as web, and then somebody changes all of them. They are
// deleted or updated, and others take their slots.
func TestAnIndexForgetsAnObjectThatSomebodyHasChanged(t *testing.T) {
	const many = 1000 // of several pages
	for _, changed := range []string{"db", ""} {
		for name, remove := range map[string]func(cache.Indexer, int) error{
			"Delete": func(s cache.Indexer, i int) error { return s.Delete(pod(i, 0)) },
			"Update": func(s cache.Indexer, i int) error { return s.Update(app(i, "mail")) },
		} {
			t.Run(fmt.Sprintf("%s/%q", name, changed), func(t *testing.T) {
				s := store.New(store.Options{Indexers: cache.Indexers{"app": byApp}})
				for i := range many {
					must.Do(t, s.Add(app(i, "web")))
				}
				for _, obj := range s.List() {
					obj.(*corev1.Pod).Labels["app"] = changed
				}
				for i := range many {
					must.Do(t, remove(s, i))
				}
				for round := range 2 { // after a delete the pages are gone at first; then others have the slots
					if pods, err := s.ByIndex("app", "web"); len(pods) > 0 || err != nil {
						t.Errorf("round %d: %d pods, the first %v, error %v", round, len(pods), pods[0], err)
					}
					for i := range many {
						must.Do(t, s.Add(app(many+i, "payments-db")))
					}
				}
			})
		}
	}
}

// An index function that gives other values each time. An index has those that
// it gave when the object was written last; and a snapshot of it stays as it was.
func TestAnIndexGoesByWhatItsFunctionSaidOfAWrite(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	said := map[string][]string{} // by key
	s := store.New(store.Options{Indexers: cache.Indexers{"random": func(obj any) ([]string, error) {
		key, _ := cache.MetaNamespaceKeyFunc(obj)
		said[key] = nil
		for range random.IntN(4) {
			said[key] = append(said[key], strconv.Itoa(random.IntN(5))) // some of them twice
		}
		return said[key], nil
	}}})
	for i := range 5000 {
		p := pod(random.IntN(300), i)
		if random.IntN(3) > 0 {
			must.Do(t, s.Update(p))
		} else {
			must.Do(t, s.Delete(p))
			delete(said, p.Namespace+"/"+p.Name)
		}
		value := strconv.Itoa(i % 5)
		var want []string
		for _, key := range slices.Sorted(maps.Keys(said)) {
			if slices.Contains(said[key], value) {
				want = append(want, key)
			}
		}
		if got, err := s.IndexKeys("random", value); !slices.Equal(got, want) || err != nil {
			t.Fatalf("after %d writes the value %s has %v, error %v; want %v", i+1, value, got, err, want)
		}
	}
}
