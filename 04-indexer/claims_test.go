// What the page docs/04-indexer.md says about client-go, shown on the pinned
// version.

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	corelisters "k8s.io/client-go/listers/core/v1"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/store"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// filled returns an indexer with the pods ns1/pod1 (app l1) and ns2/pod2 (app l2).
func filled(t *testing.T, indexers cache.Indexers) cache.Indexer {
	t.Helper()
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	must.Do(t, errors.Join(index.Add(newPod("ns1", "pod1", "l1")), index.Add(newPod("ns2", "pod2", "l2"))))
	return index
}

// pod1 returns the pod ns1/pod1 that is in the store.
func pod1(t *testing.T, store cache.Store) *corev1.Pod {
	t.Helper()
	obj, exists, err := store.GetByKey("ns1/pod1")
	must.Do(t, err)
	if !exists {
		t.Fatal("ns1/pod1 is not in the store")
	}
	return obj.(*corev1.Pod)
}

func wantKeys(t *testing.T, index cache.Indexer, name, value string, want ...string) {
	t.Helper()
	got, err := index.IndexKeys(name, value)
	must.Do(t, err)
	expect.That(t, slices.Equal(got, want), "%s %s: got %q, want %q", name, value, got, want)
}

// panics calls f and says whether it panicked.
func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func TestAddAndUpdateAreTheSame(t *testing.T) {
	index := filled(t, cache.Indexers{"app": indexer.ByLabel("app")})
	must.Do(t, errors.Join(index.Add(newPod("ns1", "pod1", "l3")), index.Update(newPod("ns3", "pod3", "l3"))))
	wantKeys(t, index, "app", "l3", "ns1/pod1", "ns3/pod3")
	wantKeys(t, index, "app", "l1")
}

// The type of an object does not count. Only what has no key is an error.
func TestAStoreComparesOnlyKeys(t *testing.T) {
	index := filled(t, cache.Indexers{})
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	found, _, err := index.Get(service)
	must.Do(t, errors.Join(err, index.Delete(service)))
	_, isPod := found.(*corev1.Pod)
	keys := index.ListKeys()
	expect.That(t, isPod && slices.Equal(keys, []string{"ns2/pod2"}), "found a %T, and %q are left", found, keys)
	_, _, err = index.Get("no object")
	for _, err := range []error{err, index.Add("no object"), index.Update("no object"), index.Delete("no object")} {
		expect.That(t, errors.As(err, new(cache.KeyError)), "got %v, want a KeyError", err)
	}
}

func TestAStoreIsAnIndexerInDisguise(t *testing.T) {
	index, ok := cache.NewStore(cache.MetaNamespaceKeyFunc).(cache.Indexer)
	if !ok {
		t.Fatal("what NewStore returns is no Indexer any more")
	}
	must.Do(t, errors.Join(index.Add(newPod("ns1", "pod1", "l1")),
		index.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")})))
	wantKeys(t, index, "app", "l1", "ns1/pod1")
}

func TestDeletingATombstoneTakesAKeyFunctionThatKnowsThem(t *testing.T) {
	pod := newPod("ns1", "pod1", "l1")
	gone := cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: pod}
	for _, test := range []struct {
		key  cache.KeyFunc
		left int
	}{
		{cache.MetaNamespaceKeyFunc, 1},
		{cache.DeletionHandlingMetaNamespaceKeyFunc, 0},
	} {
		store := cache.NewStore(test.key)
		must.Do(t, store.Add(pod))
		err := store.Delete(gone)
		if left := len(store.List()); left != test.left || (err == nil) != (left == 0) {
			t.Errorf("%d objects left (error: %v), want %d", left, err, test.left)
		}
	}
}

func TestOnlyIndexKeysComesSorted(t *testing.T) {
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Namespace: indexer.ByNamespace})
	for i := range 100 {
		must.Do(t, index.Add(newPod("ns1", fmt.Sprintf("pod%d", i), "l1")))
	}
	byIndex, list := map[string]bool{}, map[string]bool{} // the orders that they gave
	for range 10 {
		keys, err := index.IndexKeys(indexer.Namespace, "ns1")
		must.Do(t, err)
		expect.That(t, slices.IsSorted(keys), "IndexKeys gives %q", keys)
		objects, err := index.ByIndex(indexer.Namespace, "ns1")
		must.Do(t, err)
		byIndex[names(objects)], list[names(index.List())] = true, true
	}
	expect.That(t, len(byIndex) != 1 && len(list) != 1,
		"in ten calls, ByIndex gave %d orders and List %d; want several", len(byIndex), len(list))
}

func names(pods []any) string {
	var all []string
	for _, pod := range pods {
		all = append(all, pod.(*corev1.Pod).Name)
	}
	return strings.Join(all, " ")
}

func TestClientGosNamespaceIndexAndOurs(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	theirs, err := cache.MetaNamespaceIndexFunc(node)
	must.Do(t, err)
	ours, err := indexer.ByNamespace(node)
	must.Do(t, err)
	expect.That(t, slices.Equal(theirs, []string{""}) && len(ours) == 0,
		"theirs: %q, ours: %q; want one empty value, and none", theirs, ours)
	expect.That(t, panics(func() { _, _ = cache.MetaNamespaceIndexFunc((*corev1.Pod)(nil)) }), "theirs takes a nil pod")
	for _, index := range []cache.IndexFunc{cache.MetaNamespaceIndexFunc, indexer.ByNamespace} {
		if values, err := index(newPod("ns1", "pod1", "")); err != nil || !slices.Equal(values, []string{"ns1"}) {
			t.Errorf("a pod in ns1: got %q (error: %v)", values, err)
		}
	}
}

func listed(t *testing.T, index cache.Indexer) int {
	t.Helper()
	pods, err := corelisters.NewPodLister(index).Pods("ns1").List(labels.Everything())
	must.Do(t, err)
	return len(pods)
}

func TestAListerBelievesTheIndexCalledNamespace(t *testing.T) {
	for _, test := range []struct {
		name     string
		indexers cache.Indexers
		want     int
	}{
		{"a right one", cache.Indexers{"namespace": indexer.ByNamespace}, 1},
		{"a wrong one", cache.Indexers{"namespace": indexer.ByLabel("app")}, 0},
		{"none: it looks at every object", cache.Indexers{}, 1},
	} {
		got := listed(t, filled(t, test.indexers))
		expect.That(t, got == test.want, "%s: the lister found %d pods, want %d", test.name, got, test.want)
	}
}

func TestTheMapOfIndexersIsKeptAndNotCopied(t *testing.T) {
	mine := cache.Indexers{indexer.Namespace: indexer.ByNamespace}
	one, other := filled(t, mine), filled(t, mine)
	must.Do(t, one.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
	expect.That(t, len(mine) == 2, "my map has %d indexes, want the added one in it", len(mine))
	wantKeys(t, one, "app", "l1", "ns1/pod1")
	wantKeys(t, other, "app", "l1") // no error: it has the function, and not the index
}

// What is written into the result is a function without an index.
func TestGetIndexersReturnsClientGosOwnMapAndACopyOfOurs(t *testing.T) {
	for name, index := range map[string]cache.Indexer{"client-go": filled(t, cache.Indexers{}),
		"ours": store.New(store.Options{})} {
		index.GetIndexers()["app"] = indexer.ByLabel("app")
		if found, err := index.ByIndex("app", "l1"); len(found) != 0 || (err == nil) != (name == "client-go") {
			t.Errorf("%s: %d objects under l1, error: %v", name, len(found), err)
		}
	}
}

// A store has nothing to repeat, and nobody to repeat it to. A queue has both.
func TestAResyncOfAStoreDoesNothingAndOfAQueueItDoes(t *testing.T) {
	must.Say(t, "store.go", "Resync is meaningless for one of these func (c *cache) Resync() error { return nil }")
	must.Say(t, "expiration_cache.go", "Resync is a no-op for one of these")
	known := filled(t, cache.Indexers{})
	for name, queue := range map[string]cache.Queue{
		"DeltaFIFO": cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known}),
		"RealFIFO":  cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}),
	} {
		must.Do(t, queue.Resync())
		for range known.ListKeys() {
			_, err := queue.Pop(func(obj any, _ bool) error {
				delta := obj.(cache.Deltas).Newest()
				expect.That(t, delta.Type == cache.Sync, "%s: popped a delta of type %s", name, delta.Type)
				return nil
			})
			must.Do(t, err)
		}
	}
}

func TestAnInformerOfClientGosHasAnIndexByLabel(t *testing.T) {
	client := fake.NewClientset(newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2"))
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	must.Do(t, pods.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
	ctx, cancel := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.WaitForCacheSync(ctx.Done())
	wantKeys(t, pods.GetIndexer(), "app", "l1", "ns1/pod1")
	// The fake loses what is written after the list and before the watch.
	must.Until(t, "the informer watches", func() bool {
		return slices.ContainsFunc(client.Actions(), func(action clienttesting.Action) bool {
			return action.GetVerb() == "watch"
		})
	})
	_, err := client.CoreV1().Pods("ns3").Create(ctx, newPod("ns3", "pod3", "l1"), metav1.CreateOptions{})
	must.Do(t, err)
	must.Until(t, "pod3 is in the store", func() bool { return len(pods.GetStore().ListKeys()) == 3 })
	wantKeys(t, pods.GetIndexer(), "app", "l1", "ns1/pod1", "ns3/pod3")
}

// The store computes the old values from the object that it has. If that was
// changed in place, the index keeps the values from before.
func TestAnIndexThatWasBypassedStaysWrong(t *testing.T) {
	index := filled(t, cache.Indexers{"app": indexer.ByLabel("app")})
	pod1(t, index).Labels["app"] = "l3"
	wantKeys(t, index, "app", "l1", "ns1/pod1")
	must.Do(t, index.Update(newPod("ns1", "pod1", "l3"))) // a fresh one, from the server
	wantKeys(t, index, "app", "l1", "ns1/pod1")
	wantKeys(t, index, "app", "l3")
	must.Do(t, index.Replace(index.List(), ""))
	wantKeys(t, index, "app", "l1")
	wantKeys(t, index, "app", "l3", "ns1/pod1")
}

func TestAShallowCopySharesItsLabels(t *testing.T) {
	index := filled(t, cache.Indexers{"app": indexer.ByLabel("app")})
	pod := pod1(t, index)
	shallow := *pod
	shallow.Labels["app"] = "l3"
	expect.That(t, pod.Labels["app"] == "l3", "the pod in the store kept its label")
}

func TestAnIndexFunctionThatFailsLateTakesItsNameAllTheSame(t *testing.T) {
	index := filled(t, cache.Indexers{})
	strict := cache.Indexers{"strict": func(any) ([]string, error) { return nil, errors.New("no colour") }}
	expect.That(t, panics(func() { _ = index.AddIndexers(strict) }), "AddIndexers did not panic")
	err := index.AddIndexers(cache.Indexers{"strict": indexer.ByImage})
	expect.That(t, err != nil, "the name is free")
	expect.That(t, panics(func() { _ = index.Add(newPod("ns3", "pod3", "l3")) }), "the function is not used")
}

func TestIndexGivesEachNeighbourOnce(t *testing.T) {
	web := newPod("ns1", "web", "shop", "nginx:1.29", "envoy:1.38")
	twin := newPod("ns1", "twin", "shop", "nginx:1.29", "envoy:1.38")
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Image: indexer.ByImage})
	must.Do(t, errors.Join(index.Add(web), index.Add(twin)))
	if found, err := index.Index(indexer.Image, web); err != nil || len(found) != 2 {
		t.Errorf("got %d objects (error: %v), want web and its twin, once each", len(found), err)
	}
}

func TestTheMutationDetectorIsOffUnlessTheEnvironmentSaysSo(t *testing.T) {
	if os.Getenv("KUBE_CACHE_MUTATION_DETECTOR") != "" {
		t.Fatal("unset KUBE_CACHE_MUTATION_DETECTOR to run this test")
	}
	detector := cache.NewCacheMutationDetector("pods")
	pod := newPod("ns1", "pod1", "l1")
	detector.AddObject(pod)
	pod.Labels["app"] = "l2"
	once := make(chan struct{})
	close(once)
	expect.That(t, !panics(func() { detector.Run(once) }), "it is on")
}

func TestTheMapsOfAnIndexer(t *testing.T) {
	of := reflect.TypeFor[cache.Indexers]()
	expect.That(t, of.Key().Kind() == reflect.String && of.Elem() == reflect.TypeFor[cache.IndexFunc](),
		"%v is a map of %v", of, of.Elem())
	index := reflect.TypeFor[cache.Indices]().Elem()
	expect.That(t, index.Name() == "index" && index.ConvertibleTo(reflect.TypeFor[map[string]sets.Set[string]]()),
		"Indices is a map of %v, which is a %v", index.Name(), index)
}

func TestATypedIndexFunctionPanicsOnATombstone(t *testing.T) {
	typed := cache.TypedIndexerFuncToIndexerFunc(func(pod *corev1.Pod) ([]string, error) {
		return []string{pod.Spec.NodeName}, nil
	})
	index := filled(t, cache.Indexers{"typed": typed, indexer.Image: indexer.ByImage})
	gone := cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: newPod("ns1", "pod1", "l1")}
	expect.That(t, panics(func() { _, _ = index.Index("typed", gone) }), "Index with a tombstone did not panic")
	_, err := index.Index(indexer.Image, gone)
	must.Do(t, err)
}

func TestTheServerSendsTheKindAndATypedClientDropsIt(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().RESTClient().Get().Namespace(s.Namespace).Resource("configmaps").Name(
		"kube-root-ca.crt")
	sent, err := configMaps.DoRaw(t.Context())
	must.Do(t, err)
	expect.That(t, strings.Contains(string(sent), `"kind":"ConfigMap"`), "the server sent no kind: %s", sent)
	typed, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
	must.Do(t, err)
	expect.That(t, typed.Kind == "" && typed.APIVersion == "",
		"kind %q, apiVersion %q; want none", typed.Kind, typed.APIVersion)
}
