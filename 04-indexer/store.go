package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// store shows all that a store does: it is a map with a lock, from the keys of
// chapter 01 to objects.
func store(_ context.Context, out io.Writer) error {
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	pod1, pod2 := newPod("ns1", "pod1", "l1"), newPod("ns2", "pod2", "l2")
	node1 := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	for _, obj := range []any{pod1, pod2, node1, pod1} {
		if err := store.Add(obj); err != nil { // pod1 twice: Add and Update are the same
			return err
		}
	}
	showKeys(out, "added", store.ListKeys())

	for _, key := range []string{"ns1/pod1", "pod1"} {
		_, exists, _ := store.GetByKey(key)
		fmt.Fprintf(out, "GetByKey %s : %t\n", key, exists)
	}
	lookalike := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	item, _, err := store.Get(lookalike)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "Get of a Service with the same key : %T, the very one that was added: %t\n",
		item, item == any(pod1))

	if err := store.Delete(lookalike); err != nil {
		return err
	}
	showKeys(out, "deleted", store.ListKeys())
	fmt.Fprintln(out, "deleted once more :", store.Delete(lookalike))

	if err := store.Replace([]any{pod1}, "42"); err != nil {
		return err
	}
	fmt.Fprintf(out, "replaced : %d object, as of version %s\n",
		len(store.List()), store.LastStoreSyncResourceVersion())
	return nil
}
