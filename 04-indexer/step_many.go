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

// stepMany stores pods that have several values in an index. The store updates its indexes when a
// pod changes, and when it is deleted. Somebody who has read a pod before still has it as it was.
func stepMany(_ context.Context, l *step.Lesson) error {
	index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{
		"app":         indexer.ByLabel("app"),
		indexer.Image: indexer.ByImage,
	})
	show := func() error {
		for _, name := range []string{"app", indexer.Image} {
			for _, value := range slices.Sorted(slices.Values(index.ListIndexFuncValues(name))) {
				keys, err := index.IndexKeys(name, value)
				if err != nil {
					return err
				}
				fmt.Fprintln(l.Out, name, value, ":", keys)
			}
		}
		return nil
	}
	web := newPod("ns1", "web", "shop", "nginx:1.29", "envoy:1.38")
	db := newPod("ns1", "db", "shop", "postgres:18", "envoy:1.38")
	fmt.Fprintln(l.Out, "# two pods, with two images each")
	for _, pod := range []*corev1.Pod{web, db} {
		if err := index.Add(pod); err != nil {
			return err
		}
	}
	if err := show(); err != nil {
		return err
	}

	fmt.Fprintln(l.Out, "# web gets another label and loses its second container")
	changed := web.DeepCopy()
	changed.Labels["app"] = "blog"
	changed.Spec.Containers = changed.Spec.Containers[:1]
	if err := index.Update(changed); err != nil {
		return err
	}
	if err := show(); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "web as it was read before : app", web.Labels["app"])

	fmt.Fprintln(l.Out, "# web is deleted")
	if err := index.Delete(changed); err != nil {
		return err
	}
	return show()
}
