package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/labels"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
)

// label makes an index by the label app twice: under a name that says so, and
// under a name that everybody takes for something else.
func label(_ context.Context, out io.Writer) error {
	for _, name := range []string{"app", "namespace"} {
		fmt.Fprintf(out, "# an index called %q that computes the label app\n", name)
		index, err := newIndexer(cache.Indexers{name: indexer.ByLabel("app")},
			newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2"))
		if err != nil {
			return err
		}
		for _, value := range []string{"l1", "ns1"} {
			keys, err := index.IndexKeys(name, value)
			if err != nil {
				return err
			}
			showKeys(out, name+" "+value, keys)
		}
		if name == indexer.Namespace { // a lister asks the index of this name
			pods, err := corelisters.NewPodLister(index).Pods("ns1").List(labels.Everything())
			fmt.Fprintf(out, "a lister finds in ns1 : %d pods, error: %v\n", len(pods), err)
		}
	}
	return nil
}
