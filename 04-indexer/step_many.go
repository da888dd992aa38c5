package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepMany stores pods that have several values in an index by image. An index by label joins when
// the store has pods already; a pod without the label has no value in it. After each change, both
// indexes have each pod under its present values. A program that has read a pod before still has it
// as it was.
func stepMany(_ context.Context, env *step.Env) error {
	index := indexer.New(cache.MetaNamespaceKeyFunc, cache.Indexers{indexer.Image: indexer.ByImage})
	show := func(what string, names ...string) error {
		fmt.Fprintln(env.Out, "#", what)
		for _, name := range names {
			for _, value := range slices.Sorted(slices.Values(index.ListIndexFuncValues(name))) {
				keys, err := index.IndexKeys(name, value)
				if err != nil {
					return err
				}
				fmt.Fprintln(env.Out, name, value, ":", keys)
			}
		}
		return nil
	}
	web := newPod("ns1", "web", "shop", "nginx:1.29", "envoy:1.38")
	db := newPod("ns1", "db", "shop", "postgres:18", "envoy:1.38")
	job := newPod("ns1", "job", "", "postgres:18")
	delete(job.Labels, "app")
	for _, pod := range []*corev1.Pod{web, db, job} {
		if err := index.Add(pod); err != nil {
			return err
		}
	}
	before, _, err := index.GetByKey("ns1/web") // what another program reads now
	if err != nil {
		return err
	}
	if err := show("two pods with two images each, and job without the label app", indexer.Image); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "indexes :", slices.Sorted(maps.Keys(index.GetIndexers())))

	byApp := cache.Indexers{"app": indexer.ByLabel("app")}
	if err := index.AddIndexers(byApp); err != nil {
		return err
	}
	if err := show("an index by the label app is added", "app"); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "indexes :", slices.Sorted(maps.Keys(index.GetIndexers())))

	changed := web.DeepCopy()
	changed.Labels["app"] = "blog"
	changed.Spec.Containers = changed.Spec.Containers[:1]
	if err := index.Update(changed); err != nil {
		return err
	}
	if err := show("web gets another label and loses its second container", "app", indexer.Image); err != nil {
		return err
	}
	images, err := indexer.ByImage(before)
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "web as it was read before : app", before.(*corev1.Pod).Labels["app"], ": images", images)

	if err := index.Delete(changed); err != nil {
		return err
	}
	return show("web is deleted", "app", indexer.Image)
}
