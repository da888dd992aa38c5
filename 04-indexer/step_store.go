package main

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/step"
)

// stepStore calls the methods of a store. A store is a map with a lock, from the keys of
// chapter 01 to objects.
func stepStore(_ context.Context, env *step.Env) error {
	store := indexer.New(cache.MetaNamespaceKeyFunc, nil)
	pod1, pod2 := newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2")
	node1 := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	for _, obj := range []any{pod1, pod2, node1} {
		if err := store.Add(obj); err != nil {
			return err
		}
	}
	if err := store.Update(node1); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "added :", slices.Sorted(slices.Values(store.ListKeys())))
	fmt.Fprintln(env.Out, "Add of a string, which has no key, is an error :", store.Add("pod3") != nil)

	for _, key := range []string{"ns1/pod1", "pod1"} {
		_, exists, err := store.GetByKey(key)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "GetByKey %s : %t\n", key, exists)
	}
	lookalike := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	obj, _, err := store.Get(lookalike)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "Get of a Service with the same key : %T, the very one that was added: %t\n",
		obj, obj == any(pod1))

	if err := store.Delete(lookalike); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "deleted :", slices.Sorted(slices.Values(store.ListKeys())))
	fmt.Fprintln(env.Out, "deleted once more :", store.Delete(lookalike))

	if err := store.Replace([]any{pod1}, "42"); err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "replaced : %d object, as of version %s\n",
		len(store.List()), store.LastStoreSyncResourceVersion())
	return nil
}
