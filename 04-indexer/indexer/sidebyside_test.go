// The Indexer beside client-go's store.

package indexer_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/scripts/harness/must"
)

// newIndexer is an indexertest.New.
func newIndexer(keyFunc cache.KeyFunc, indexers cache.Indexers) indexertest.Store {
	return indexer.New(keyFunc, indexers)
}

func FuzzIndexer(f *testing.F) { indexertest.Fuzz(f, newIndexer, nil) }

func TestIndexer(t *testing.T) { indexertest.Run(t, newIndexer, nil) }

// An index function that fails, and one that panics, for the pods with these labels.
const (
	fails  = "fails"
	panics = "panics"
)

// byPickyApp gives an object one value. With several, client-go also repairs what a write that failed has left
// in an index, when the next write changes no value; a store need not do that.
func byPickyApp(obj any) ([]string, error) {
	switch app := obj.(*corev1.Pod).Labels["app"]; app {
	case fails:
		return nil, errors.New("no colour")
	case panics:
		panic("no colour at all")
	case "":
		return nil, nil
	default:
		return []string{app}, nil
	}
}

// Whatever is done to the two stores, both return the same error, or panic with the same words, and
// hold the same objects and indexes afterwards. There is one index only: with several of them, it
// is a matter of chance which ones client-go has changed before it panics.
func TestErrorsAndPanicsAreClientGos(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": byPickyApp})
	ours := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": byPickyApp})
	seen := map[string]bool{}
	for i := range 5000 {
		obj := randomObject(random, i)
		var name string
		var call func(cache.Indexer) error
		switch random.IntN(12) {
		default:
			name, call = "Update", func(s cache.Indexer) error { return s.Update(obj) }
		case 1, 2:
			name, call = "Delete", func(s cache.Indexer) error { return s.Delete(obj) }
		case 3:
			name, call = "Replace", func(s cache.Indexer) error { return s.Replace([]any{obj}, strconv.Itoa(i)) }
		case 4:
			name, call = "Get", func(s cache.Indexer) error { _, _, err := s.Get(obj); return err }
		case 5:
			name, call = "Index", func(s cache.Indexer) error { _, err := s.Index("app", obj); return err }
		case 6:
			name, call = "AddIndexers", func(s cache.Indexer) error {
				return s.AddIndexers(cache.Indexers{"app": byPickyApp})
			}
		}
		want, got := outcome(call, theirs), outcome(call, ours)
		if got != want {
			t.Fatalf("call %d, %s of %s: got %s, want client-go's %s", i+1, name, describe(obj), got, want)
		}
		differences := indexertest.Differences(indexertest.Contents(theirs), indexertest.Contents(ours))
		if differences != "" {
			t.Fatalf("after call %d, %s of %s, which ended with %q, our store has not what client-go's has:\n%s",
				i+1, name, describe(obj), want, differences)
		}
		kind, _, _ := strings.Cut(want, ":")
		seen[kind] = true
	}
	for _, kind := range []string{"fine", "error", "panic"} {
		if !seen[kind] {
			t.Errorf("no call ended with: %s", kind)
		}
	}
}

// randomObject returns a pod that fits, one that the index function does not like, a tombstone, or
// something that has no key.
func randomObject(random *rand.Rand, version int) any {
	number := random.IntN(4)
	switch random.IntN(10) {
	case 0:
		return indexertest.PodOfApp(number, fails)
	case 1:
		return indexertest.PodOfApp(number, panics)
	case 2:
		return cache.DeletedFinalStateUnknown{Key: "ns-1/pod-1", Obj: indexertest.Pod(1, version)}
	case 3:
		return "no object"
	case 4:
		return indexertest.Pod(number, version)
	}
	return indexertest.PodOfApp(number, []string{"web", "db", "mail"}[random.IntN(3)])
}

// describe says what an object of randomObject is, in a few words.
func describe(obj any) string {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return fmt.Sprintf("a %T", obj)
	}
	return fmt.Sprintf("%s/%s with app=%s", pod.Namespace, pod.Name, pod.Labels["app"])
}

// outcome says how a call has ended.
func outcome(call func(cache.Indexer) error, s cache.Indexer) (text string) {
	defer func() {
		if p := recover(); p != nil {
			text = fmt.Sprint("panic: ", p)
		}
	}()
	if err := call(s); err != nil {
		return fmt.Sprint("error: ", err)
	}
	return "fine"
}

// As in client-go, an index function that fails in AddIndexers has taken its name, and is called
// again.
func TestAnIndexFunctionThatFailsLate(t *testing.T) {
	theirs := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	ours := indexer.New(cache.MetaNamespaceKeyFunc, nil)
	bad, good, other := indexertest.PodOfApp(1, fails), indexertest.PodOfApp(1, "web"), indexertest.PodOfApp(2, "web")
	for i, call := range []func(cache.Indexer) error{
		func(s cache.Indexer) error { return s.Add(bad) },
		func(s cache.Indexer) error { return s.AddIndexers(cache.Indexers{"app": byPickyApp}) },
		func(s cache.Indexer) error {
			return s.AddIndexers(cache.Indexers{"app": byPickyApp, "other": byPickyApp})
		},
		func(s cache.Indexer) error { _, err := s.ByIndex("other", "web"); return err },
		func(s cache.Indexer) error { return s.Update(good) },
		func(s cache.Indexer) error { return s.Replace([]any{other}, "") },
	} {
		if want, got := outcome(call, theirs), outcome(call, ours); got != want {
			t.Errorf("call %d: got %s, want client-go's %s", i+1, got, want)
		}
		differences := indexertest.Differences(indexertest.Contents(theirs), indexertest.Contents(ours))
		if differences != "" {
			t.Errorf("after call %d, our store has not what client-go's has:\n%s", i+1, differences)
		}
	}
}

// An index function that panics leaves no lock behind.
func TestTheIndexerCanBeReadAndWrittenAfterAPanic(t *testing.T) {
	index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": byPickyApp})
	add := func(s cache.Indexer) error { return s.Add(indexertest.PodOfApp(1, fails)) }
	want := `panic: unable to calculate an index entry for key "ns-1/pod-1" on index "app": no colour`
	if got := outcome(add, index); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	must.NoError(t, index.Add(indexertest.PodOfApp(2, "web")))
	keys := slices.Sorted(slices.Values(index.ListKeys()))
	if want := []string{"ns-1/pod-1", "ns-2/pod-2"}; !slices.Equal(keys, want) {
		t.Errorf("it holds %q, want %q", keys, want)
	}
}

// All methods at the same time: the race detector sees what the lock does not guard.
func TestAllMethodsAtTheSameTime(t *testing.T) {
	index := indexer.New(cache.MetaNamespaceKeyFunc, indexertest.ByNamespace())
	pod := func(i int) *corev1.Pod { return indexertest.PodOfApp(i%20, "web") }
	var running sync.WaitGroup
	for name, call := range map[string]func(i int) error{
		"Add":     func(i int) error { return index.Add(pod(i)) },
		"Update":  func(i int) error { return index.Update(pod(i)) },
		"Delete":  func(i int) error { return index.Delete(pod(i + 7)) },
		"Replace": func(i int) error { return index.Replace([]any{pod(i), pod(i + 1)}, strconv.Itoa(i)) },
		"AddIndexers": func(i int) error {
			return index.AddIndexers(cache.Indexers{"app" + strconv.Itoa(i): byPickyApp})
		},
		"Bookmark":            func(i int) error { index.Bookmark(strconv.Itoa(i)); return nil },
		"Get":                 func(i int) error { _, _, err := index.Get(pod(i)); return err },
		"GetByKey":            func(int) error { _, _, err := index.GetByKey("ns-1/pod-1"); return err },
		"List":                func(int) error { index.List(); return nil },
		"ListKeys":            func(int) error { index.ListKeys(); return nil },
		"Index":               func(i int) error { _, err := index.Index(cache.NamespaceIndex, pod(i)); return err },
		"ByIndex":             func(int) error { _, err := index.ByIndex(cache.NamespaceIndex, "ns-1"); return err },
		"IndexKeys":           func(int) error { _, err := index.IndexKeys(cache.NamespaceIndex, "ns-1"); return err },
		"ListIndexFuncValues": func(int) error { index.ListIndexFuncValues(cache.NamespaceIndex); return nil },
		"GetIndexers":         func(int) error { delete(index.GetIndexers(), cache.NamespaceIndex); return nil },
		"the version":         func(int) error { index.LastStoreSyncResourceVersion(); return nil },
		"Resync":              func(int) error { return index.Resync() },
	} {
		running.Go(func() {
			for i := range 200 {
				if err := call(i); err != nil {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	running.Wait()
}
