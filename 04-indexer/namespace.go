package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// namespace asks a store for the pods of a namespace, in each of the ways that
// an indexer has. None of them looks at the other namespace's pods.
func namespace(_ context.Context, out io.Writer) error {
	index, err := newIndexer(cache.Indexers{indexer.Namespace: indexer.ByNamespace},
		newPod("ns1", "pod1", "l1"), newPod("ns1", "pod3", "l1"), newPod("ns2", "pod2", "l2"))
	if err != nil {
		return err
	}
	values := index.ListIndexFuncValues(indexer.Namespace)
	showKeys(out, "values of the index", values)

	keys, err := index.IndexKeys(indexer.Namespace, "ns1")
	if err != nil {
		return err
	}
	showKeys(out, "IndexKeys ns1", keys)

	objects, err := index.ByIndex(indexer.Namespace, "ns1")
	if err != nil {
		return err
	}
	var names []string
	for _, obj := range objects {
		names = append(names, obj.(*corev1.Pod).Name)
	}
	showKeys(out, "ByIndex ns1", names)

	neighbours, err := index.Index(indexer.Namespace, newPod("ns1", "not-in-the-store", ""))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Index, what shares a namespace with some pod of ns1 : %d objects\n", len(neighbours))
	return nil
}
