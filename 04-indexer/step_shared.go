package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepShared changes an object of a store. First it changes a copy, which is right. Then it changes
// the object itself, and the index is wrong.
func stepShared(_ context.Context, env *step.Env) error {
	index := cache.NewIndexer(cache.MetaNamespaceKeyFunc, cache.Indexers{"app": indexer.ByLabel("app")})
	if err := index.Add(newPod("ns1", "pod1", "l1")); err != nil {
		return err
	}
	obj, _, err := index.GetByKey("ns1/pod1")
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "# a copy gets the label l2, and is stored")
	pod := obj.(*corev1.Pod).DeepCopy()
	pod.Labels["app"] = "l2"
	if err := index.Update(pod); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "values of the index :", index.ListIndexFuncValues("app"))

	fmt.Fprintln(env.Out, "# what is in the store gets the label l3, and is stored again")
	pod.Labels["app"] = "l3" // no copy: the store has this very pod
	if err := index.Update(pod); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "values of the index :", index.ListIndexFuncValues("app"))

	fmt.Fprintln(env.Out, "# it is deleted")
	if err := index.Delete(pod); err != nil {
		return err
	}
	objects, err := index.ByIndex("app", "l2")
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "in the store : %d objects; under l2 : %v\n", len(index.List()), objects)
	return nil
}
