// Claims of the book about client-go's stores, tested on the pinned version.

package main

import (
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/04-indexer/indexer/indexertest"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestAddAndUpdateAreTheSame(t *testing.T) {
	index := filled(t, cache.Indexers{"app": indexer.ByLabel("app")})
	must.NoError(t, index.Add(newPod("ns1", "pod1", "l3")))
	must.NoError(t, index.Update(newPod("ns3", "pod3", "l3")))
	indexertest.WantKeys(t, index, "app", "l3", "ns1/pod1", "ns3/pod3")
	indexertest.WantKeys(t, index, "app", "l1")
}

// A store takes any value, if its key function finds a key for it. The value needs no method of a
// Kubernetes object.
func TestAStoreTakesWhatHasAKey(t *testing.T) {
	type pod struct{ name string }
	store := cache.NewStore(func(obj any) (string, error) { return obj.(pod).name, nil })
	must.NoError(t, store.Add(pod{"pod1"}))
	got, exists, err := store.GetByKey("pod1")
	must.NoError(t, err)
	if got != (pod{"pod1"}) || !exists {
		t.Errorf("GetByKey() = %v, %t; want the toy pod", got, exists)
	}
}

// A store does not look at the types of objects. Only an object without a key is an error.
func TestAStoreComparesOnlyKeys(t *testing.T) {
	index := filled(t, cache.Indexers{})
	service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	found, _, err := index.Get(service)
	must.NoError(t, err)
	if _, isPod := found.(*corev1.Pod); !isPod {
		t.Errorf("Get() of a Service returns a %T, want the pod with the same key", found)
	}
	must.NoError(t, index.Delete(service))
	if keys, want := index.ListKeys(), []string{"ns2/pod2"}; !slices.Equal(keys, want) {
		t.Errorf("keys after the Delete of a Service: %q, want %q", keys, want)
	}

	_, _, getErr := index.Get("no object")
	for method, err := range map[string]error{
		"Get":    getErr,
		"Add":    index.Add("no object"),
		"Update": index.Update("no object"),
		"Delete": index.Delete("no object"),
	} {
		if !errors.As(err, new(cache.KeyError)) {
			t.Errorf("%s() of a string returns the error %v, want a KeyError", method, err)
		}
	}
}

// The store says that the object is missing, the lister returns an error.
func TestAMissingObjectInAStoreAndInALister(t *testing.T) {
	index := filled(t, cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc})
	item, exists, err := index.GetByKey("ns1/missing")
	if item != nil || exists || err != nil {
		t.Errorf("GetByKey() = %v, %t, %v; want nil, false, nil", item, exists, err)
	}
	pod, err := corelisters.NewPodLister(index).Pods("ns1").Get("missing")
	if pod != nil || !apierrors.IsNotFound(err) {
		t.Errorf("Get() of the lister = %v, %v; want nil and a NotFound error", pod, err)
	}
}

func TestAStoreIsAnIndexerInDisguise(t *testing.T) {
	index, ok := cache.NewStore(cache.MetaNamespaceKeyFunc).(cache.Indexer)
	if !ok {
		t.Fatal("the result of NewStore is not an Indexer any more")
	}
	withIndexers := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{})
	if got, want := reflect.TypeOf(index), reflect.TypeOf(withIndexers); got != want {
		t.Errorf("NewStore returns a %v, and NewIndexer a %v, want the same type", got, want)
	}
	must.NoError(t, index.Add(newPod("ns1", "pod1", "l1")))
	must.NoError(t, index.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
	indexertest.WantKeys(t, index, "app", "l1", "ns1/pod1")
}

// The stores of client-go's informers have such a key function.
func TestDeletingATombstoneTakesAKeyFunctionThatKnowsThem(t *testing.T) {
	plain, _ := cache.NewInformerWithOptions(cache.InformerOptions{})
	for _, test := range []struct {
		name  string
		store cache.Store
		want  int // objects after Delete
	}{
		{"MetaNamespaceKeyFunc", cache.NewStore(cache.MetaNamespaceKeyFunc), 1},
		{"DeletionHandlingMetaNamespaceKeyFunc", cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc), 0},
		{"an informer", plain, 0},
		{"a shared informer", cache.NewSharedIndexInformer(nil, &corev1.Pod{}, 0, cache.Indexers{}).GetStore(), 0},
	} {
		pod := newPod("ns1", "pod1", "l1")
		must.NoError(t, test.store.Add(pod))
		err := test.store.Delete(cache.DeletedFinalStateUnknown{Key: "ns1/pod1", Obj: pod})
		if wantErr := test.want > 0; (err != nil) != wantErr {
			t.Errorf("%s: Delete() of a tombstone = %v, want an error: %t", test.name, err, wantErr)
		}
		if got := len(test.store.List()); got != test.want {
			t.Errorf("%s: %d objects after Delete, want %d", test.name, got, test.want)
		}
	}
}

func TestOnlyIndexKeysComesSorted(t *testing.T) {
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Namespace: indexer.ByNamespace})
	for i := range 100 {
		must.NoError(t, index.Add(newPod("ns1", fmt.Sprintf("pod%d", i), "l1")))
	}
	byIndex, list := map[string]bool{}, map[string]bool{} // the different orders of their results
	for range 10 {
		keys, err := index.IndexKeys(indexer.Namespace, "ns1")
		must.NoError(t, err)
		if !slices.IsSorted(keys) {
			t.Errorf("IndexKeys() = %q, want sorted keys", keys)
		}
		objects, err := index.ByIndex(indexer.Namespace, "ns1")
		must.NoError(t, err)
		byIndex[indexertest.Names(objects)] = true
		list[indexertest.Names(index.List())] = true
	}
	if len(byIndex) == 1 {
		t.Error("ten calls of ByIndex return 1 order, want several")
	}
	if len(list) == 1 {
		t.Error("ten calls of List return 1 order, want several")
	}
}

// Resync of a store does nothing. Resync of a queue queues the known objects again.
func TestAResyncOfAStoreDoesNothingAndOfAQueueItDoes(t *testing.T) {
	must.FindInClientGo(t, "store.go",
		"Resync is meaningless for one of these func (c *cache) Resync() error { return nil }")
	must.FindInClientGo(t, "expiration_cache.go", "Resync is a no-op for one of these")
	known := filled(t, cache.Indexers{})
	for name, queue := range map[string]cache.Queue{
		"DeltaFIFO": cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known}),
		"RealFIFO":  cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known}),
	} {
		must.NoError(t, queue.Resync())
		for range known.ListKeys() {
			_, err := queue.Pop(func(obj any, _ bool) error {
				delta := obj.(cache.Deltas).Newest()
				if delta.Type != cache.Sync {
					t.Errorf("%s: popped a delta of type %s, want %s", name, delta.Type, cache.Sync)
				}
				return nil
			})
			must.NoError(t, err)
		}
	}
}

func TestAShallowCopySharesItsLabels(t *testing.T) {
	index := filled(t, cache.Indexers{"app": indexer.ByLabel("app")})
	pod := pod1(t, index)
	shallow := *pod
	shallow.Labels["app"] = "l3"
	if pod.Labels["app"] != "l3" {
		t.Errorf("the label of the pod in the store is %q, want %q", pod.Labels["app"], "l3")
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
	stop := make(chan struct{})
	close(stop) // the detector compares once, and ends
	if indexertest.Panics(func() { detector.Run(stop) }) {
		t.Error("the mutation detector has found the change, want it off by default")
	}
}

func TestTheServerSendsTheKindAndATypedClientDropsIt(t *testing.T) {
	s := sessiontest.Open(t)
	configMaps := s.Client.CoreV1().RESTClient().Get().Namespace(s.Namespace).Resource("configmaps").Name(
		"kube-root-ca.crt")
	sent, err := configMaps.DoRaw(t.Context())
	must.NoError(t, err)
	if !strings.Contains(string(sent), `"kind":"ConfigMap"`) {
		t.Errorf("the server sent %s, want the kind ConfigMap in it", sent)
	}
	typed, err := s.Client.CoreV1().ConfigMaps(s.Namespace).Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{})
	must.NoError(t, err)
	if typed.Kind != "" || typed.APIVersion != "" {
		t.Errorf("the typed object has kind %q and apiVersion %q, want neither", typed.Kind, typed.APIVersion)
	}
}
