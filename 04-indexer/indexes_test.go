// Claims of the book about the indexes of client-go's stores, tested on the pinned version.

package main

import (
	"context"
	"errors"
	"reflect"
	"slices"
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
	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/scripts/harness/must"
)

func TestClientGosNamespaceIndexAndOurs(t *testing.T) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	theirs, err := cache.MetaNamespaceIndexFunc(node)
	must.NoError(t, err)
	ours, err := indexer.ByNamespace(node)
	must.NoError(t, err)
	if want := []string{""}; !slices.Equal(theirs, want) {
		t.Errorf("MetaNamespaceIndexFunc(node) = %q, want %q", theirs, want)
	}
	if len(ours) != 0 {
		t.Errorf("ByNamespace(node) = %q, want no values", ours)
	}
	if !indexertest.Panics(func() { _, _ = cache.MetaNamespaceIndexFunc((*corev1.Pod)(nil)) }) {
		t.Error("MetaNamespaceIndexFunc of a nil pod does not panic")
	}
	for name, function := range map[string]cache.IndexFunc{
		"MetaNamespaceIndexFunc": cache.MetaNamespaceIndexFunc,
		"ByNamespace":            indexer.ByNamespace,
	} {
		values, err := function(newPod("ns1", "pod1", ""))
		if want := []string{"ns1"}; err != nil || !slices.Equal(values, want) {
			t.Errorf("%s(pod in ns1) = %q, %v; want %q, nil", name, values, err, want)
		}
	}
}

// listed returns the number of pods in ns1 that a lister finds.
func listed(t *testing.T, index cache.Indexer) int {
	t.Helper()
	pods, err := corelisters.NewPodLister(index).Pods("ns1").List(labels.Everything())
	must.NoError(t, err)
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
		{"none, so that the lister looks at all objects", cache.Indexers{}, 1},
	} {
		got := listed(t, filled(t, test.indexers))
		if got != test.want {
			t.Errorf("%s: the lister found %d pods, want %d", test.name, got, test.want)
		}
	}
}

func TestTheMapOfIndexersIsKeptAndNotCopied(t *testing.T) {
	indexers := cache.Indexers{indexer.Namespace: indexer.ByNamespace}
	first, second := filled(t, indexers), filled(t, indexers)
	must.NoError(t, first.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
	if len(indexers) != 2 {
		t.Errorf("the map of indexers has %d functions after AddIndexers, want 2", len(indexers))
	}
	indexertest.WantKeys(t, first, "app", "l1", "ns1/pod1")
	indexertest.WantKeys(t, second, "app", "l1") // no keys and no error: it has the function, but no index
}

// If somebody adds a function to the map of client-go's store, the store has a function without an
// index.
func TestGetIndexersReturnsClientGosOwnMapAndACopyOfOurs(t *testing.T) {
	theirs := filled(t, cache.Indexers{})
	theirs.GetIndexers()["app"] = indexer.ByLabel("app")
	found, err := theirs.ByIndex("app", "l1")
	if len(found) != 0 || err != nil {
		t.Errorf("client-go: ByIndex(app, l1) = %v, %v; want no objects, nil", found, err)
	}

	ours := indexer.New(cache.MetaNamespaceKeyFunc, nil)
	must.NoError(t, ours.Add(newPod("ns1", "pod1", "l1")))
	ours.GetIndexers()["app"] = indexer.ByLabel("app")
	found, err = ours.ByIndex("app", "l1")
	if len(found) != 0 || err == nil {
		t.Errorf("ours: ByIndex(app, l1) = %v, %v; want no objects, and an error", found, err)
	}
}

func TestAnInformerOfClientGosHasAnIndexByLabel(t *testing.T) {
	client := fake.NewClientset(newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2"))
	factory := informers.NewSharedInformerFactory(client, 0)
	pods := factory.Core().V1().Pods().Informer()
	must.NoError(t, pods.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
	ctx, cancel := context.WithCancel(t.Context())
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	defer cancel()
	factory.WaitForCacheSync(ctx.Done())
	indexertest.WantKeys(t, pods.GetIndexer(), "app", "l1", "ns1/pod1")
	// The fake client loses writes between the list and the watch.
	must.Until(t, "the informer watches", func() bool {
		return slices.ContainsFunc(client.Actions(), func(action clienttesting.Action) bool {
			return action.GetVerb() == "watch"
		})
	})
	_, err := client.CoreV1().Pods("ns3").Create(ctx, newPod("ns3", "pod3", "l1"), metav1.CreateOptions{})
	must.NoError(t, err)
	must.Until(t, "pod3 is in the store", func() bool { return len(pods.GetStore().ListKeys()) == 3 })
	indexertest.WantKeys(t, pods.GetIndexer(), "app", "l1", "ns1/pod1", "ns3/pod3")
}

// The store computes the old values from the object in the store. If somebody has changed this
// object in place, the index keeps the values from before the change.
func TestAnIndexThatWasBypassedStaysWrong(t *testing.T) {
	index := filled(t, cache.Indexers{"app": indexer.ByLabel("app")})
	pod1(t, index).Labels["app"] = "l3"
	indexertest.WantKeys(t, index, "app", "l1", "ns1/pod1")
	must.NoError(t, index.Update(newPod("ns1", "pod1", "l3"))) // a fresh one, from the server
	indexertest.WantKeys(t, index, "app", "l1", "ns1/pod1")
	indexertest.WantKeys(t, index, "app", "l3")
	must.NoError(t, index.Replace(index.List(), ""))
	indexertest.WantKeys(t, index, "app", "l1")
	indexertest.WantKeys(t, index, "app", "l3", "ns1/pod1")
}

func TestAnIndexFunctionThatFailsLateTakesItsNameAllTheSame(t *testing.T) {
	index := filled(t, cache.Indexers{})
	strict := cache.Indexers{"strict": func(any) ([]string, error) { return nil, errors.New("no colour") }}
	if !indexertest.Panics(func() { _ = index.AddIndexers(strict) }) {
		t.Error("AddIndexers with a function that fails does not panic")
	}
	err := index.AddIndexers(cache.Indexers{"strict": indexer.ByImage})
	if err == nil {
		t.Error("AddIndexers with the same name = nil, want an error")
	}
	if !indexertest.Panics(func() { _ = index.Add(newPod("ns3", "pod3", "l3")) }) {
		t.Error("Add does not panic, although the function that fails is in use")
	}
}

func TestIndexGivesEachNeighbourOnce(t *testing.T) {
	web := newPod("ns1", "web", "shop", "nginx:1.29", "envoy:1.38")
	twin := newPod("ns1", "twin", "shop", "nginx:1.29", "envoy:1.38")
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Image: indexer.ByImage})
	must.NoError(t, index.Add(web))
	must.NoError(t, index.Add(twin))
	found, err := index.Index(indexer.Image, web)
	if err != nil || len(found) != 2 {
		t.Errorf("Index() = %d objects (%s), %v; want 2 objects, nil", len(found), indexertest.Names(found), err)
	}
}

func TestTheMapsOfAnIndexer(t *testing.T) {
	indexers := reflect.TypeFor[cache.Indexers]()
	if got := indexers.Key().Kind(); got != reflect.String {
		t.Errorf("the keys of Indexers are of kind %v, want %v", got, reflect.String)
	}
	if got, want := indexers.Elem(), reflect.TypeFor[cache.IndexFunc](); got != want {
		t.Errorf("the values of Indexers are of type %v, want %v", got, want)
	}
	index := reflect.TypeFor[cache.Indices]().Elem()
	if got := index.Name(); got != "index" {
		t.Errorf("the type of the values of Indices is called %s, want index", got)
	}
	if want := reflect.TypeFor[map[string]sets.Set[string]](); !index.ConvertibleTo(want) {
		t.Errorf("the values of Indices are of type %v, want one that converts to %v", index, want)
	}
}

func TestATypedIndexFunctionPanicsOnATombstone(t *testing.T) {
	typed := cache.TypedIndexerFuncToIndexerFunc(func(pod *corev1.Pod) ([]string, error) {
		return []string{pod.Spec.NodeName}, nil
	})
	index := filled(t, cache.Indexers{"typed": typed, indexer.Image: indexer.ByImage})
	tombstone := cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: newPod("ns1", "pod1", "l1")}
	if !indexertest.Panics(func() { _, _ = index.Index("typed", tombstone) }) {
		t.Error("Index with a tombstone and a typed function does not panic")
	}
	_, err := index.Index(indexer.Image, tombstone)
	if err != nil {
		t.Errorf("Index with a tombstone and our function: error %v, want nil", err)
	}
}
