package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepNamespace gets the pods of a namespace from a store, with each of the methods of an indexer.
// None of them looks at the pods of the other namespace.
func stepNamespace(_ context.Context, env *step.Env) error {
	index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Namespace: indexer.ByNamespace})
	for _, pod := range []*corev1.Pod{
		newPod("ns1", "pod1", "l1"), newPod("ns1", "pod3", "l1"), newPod("ns2", "pod2", "l2"),
	} {
		if err := index.Add(pod); err != nil {
			return err
		}
	}
	values := index.ListIndexFuncValues(indexer.Namespace)
	fmt.Fprintln(env.Out, "values of the index :", slices.Sorted(slices.Values(values)))

	keys, err := index.IndexKeys(indexer.Namespace, "ns1")
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "IndexKeys ns1 :", keys)

	objects, err := index.ByIndex(indexer.Namespace, "ns1")
	if err != nil {
		return err
	}
	var names []string
	for _, obj := range objects {
		names = append(names, obj.(*corev1.Pod).Name)
	}
	slices.Sort(names) // ByIndex has no order
	fmt.Fprintln(env.Out, "ByIndex ns1 :", names)

	neighbours, err := index.Index(indexer.Namespace, newPod("ns1", "not-in-the-store", ""))
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "Index, what shares a namespace with some pod of ns1 : %d objects\n", len(neighbours))
	return nil
}
