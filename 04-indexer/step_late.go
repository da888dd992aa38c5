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

// stepLate adds an index to a store that has objects already. The store indexes these objects
// immediately. It refuses a second index with the same name.
func stepLate(_ context.Context, l *step.Lesson) error {
	index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Namespace: indexer.ByNamespace})
	for _, pod := range []*corev1.Pod{newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2")} {
		if err := index.Add(pod); err != nil {
			return err
		}
	}
	_, err := index.IndexKeys("app", "l1")
	fmt.Fprintln(l.Out, "before :", err)

	show := func() error {
		for _, value := range slices.Sorted(slices.Values(index.ListIndexFuncValues("app"))) {
			keys, err := index.IndexKeys("app", value)
			if err != nil {
				return err
			}
			fmt.Fprintln(l.Out, "app", value, ":", keys)
		}
		return nil
	}
	byApp := cache.Indexers{"app": indexer.ByLabel("app")}
	if err := index.AddIndexers(byApp); err != nil {
		return err
	}
	if err := show(); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "the same name again :", index.AddIndexers(byApp))

	fmt.Fprintln(l.Out, "# one more pod")
	if err := index.Add(newPod("ns3", "pod3", "l1")); err != nil {
		return err
	}
	return show()
}
