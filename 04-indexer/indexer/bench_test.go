package indexer_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/must"
)

// BenchmarkFind finds the 10 pods of one node among 100,000 pods: by an index, and by a search
// through all pods, in turns. It reports how many times longer the search takes.
func BenchmarkFind(b *testing.B) {
	const pods, perNode, lookups = 100_000, 10, 1000
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"node": byNode})
	for i := range pods {
		pod := &corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: fmt.Sprintf("pod%d", i)},
			Spec:       corev1.PodSpec{NodeName: fmt.Sprintf("node%d", i/perNode)},
		}
		must.NoError(b, index.Add(pod))
	}
	var indexed, filtered time.Duration
	for b.Loop() {
		start := time.Now()
		for i := range lookups { // so many that the time to read the clock does not matter
			found, err := index.ByIndex("node", fmt.Sprintf("node%d", i))
			if err != nil || len(found) != perNode {
				b.Fatalf("found %d pods (error: %v), want %d", len(found), err, perNode)
			}
		}
		indexed += time.Since(start) / lookups

		start = time.Now()
		if found := filter(index, "node1"); found != perNode {
			b.Fatalf("found %d pods, want %d", found, perNode)
		}
		filtered += time.Since(start)
	}
	b.ReportMetric(0, "ns/op") // the sum of both says nothing
	b.ReportMetric(float64(indexed.Nanoseconds())/float64(b.N), "ns/index")
	b.ReportMetric(float64(filtered.Nanoseconds())/float64(b.N), "ns/filter")
	b.ReportMetric(float64(filtered)/float64(indexed), "filter/index")
}

func byNode(obj any) ([]string, error) {
	pod, ok := obj.(*corev1.Pod)
	if !ok {
		return nil, fmt.Errorf("want a pod, got %T", obj)
	}
	if pod.Spec.NodeName == "" {
		return nil, nil // it has no node yet: it is in the store, and not in this index
	}
	return []string{pod.Spec.NodeName}, nil
}

// filter counts the pods of a node with a search through all pods.
func filter(store cache.Store, node string) (found int) {
	for _, obj := range store.List() {
		if obj.(*corev1.Pod).Spec.NodeName == node {
			found++
		}
	}
	return found
}

// BenchmarkUpdate updates a pod whose values do not change: in a store without an index, with one
// index, with three indexes that have one value, and with one more index. It shows how much each
// index costs a write.
func BenchmarkUpdate(b *testing.B) {
	for _, bench := range []struct {
		name     string
		indexers cache.Indexers
	}{
		{"indexes=0", cache.Indexers{}},
		{"indexes=1", cache.Indexers{"node": byNode}},
		{"indexes=3", cache.Indexers{
			indexer.Namespace: indexer.ByNamespace,
			"app":             indexer.ByLabel("app"),
			"node":            byNode,
		}},
		{"indexes=4", cache.Indexers{
			indexer.Namespace: indexer.ByNamespace,
			"app":             indexer.ByLabel("app"),
			indexer.Image:     indexer.ByImage,
			"node":            byNode,
		}},
	} {
		b.Run(bench.name, func(b *testing.B) {
			index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, bench.indexers)
			pod := full()
			for b.Loop() {
				must.NoError(b, index.Update(pod))
			}
		})
	}
}
