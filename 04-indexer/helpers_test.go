// The stores and the checks that the tests of this chapter share.

package main

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// filled returns an indexer with the pods ns1/pod1 (app l1) and ns2/pod2 (app l2).
func filled(t *testing.T, indexers cache.Indexers) cache.Indexer {
	t.Helper()
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, indexers)
	must.NoError(t, index.Add(newPod("ns1", "pod1", "l1")))
	must.NoError(t, index.Add(newPod("ns2", "pod2", "l2")))
	return index
}

// pod1 returns the pod ns1/pod1 that is in the store.
func pod1(t *testing.T, store cache.Store) *corev1.Pod {
	t.Helper()
	obj, exists, err := store.GetByKey("ns1/pod1")
	must.NoError(t, err)
	if !exists {
		t.Fatal("ns1/pod1 is not in the store")
	}
	return obj.(*corev1.Pod)
}
