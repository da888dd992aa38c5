package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// late adds an index to a store that holds objects already. They are indexed
// at once; a name that is taken is refused.
func late(_ context.Context, out io.Writer) error {
	index, err := newIndexer(cache.Indexers{indexer.Namespace: indexer.ByNamespace},
		newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2"))
	if err != nil {
		return err
	}
	_, err = index.IndexKeys("app", "l1")
	fmt.Fprintln(out, "before :", err)

	byApp := cache.Indexers{"app": indexer.ByLabel("app")}
	if err := index.AddIndexers(byApp); err != nil {
		return err
	}
	if err := showIndex(out, index, "app"); err != nil {
		return err
	}
	fmt.Fprintln(out, "the same name again :", index.AddIndexers(byApp))

	if err := index.Add(newPod("ns3", "pod3", "l1")); err != nil {
		return err
	}
	fmt.Fprintln(out, "# one more pod")
	return showIndex(out, index, "app")
}
