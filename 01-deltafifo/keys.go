package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
)

// keys asks two key functions, the default one and our own, for the names of
// things.
func keys(_ context.Context, out io.Writer) error {
	byDefault := deltafifo.New(deltafifo.Options{}) // uses MetaNamespaceKeyFunc
	fmt.Fprintln(out, "toy pod, default key function:", byDefault.Add(pod1))

	namespaced := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	clusterWide := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	for _, obj := range []any{namespaced, clusterWide} {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%T, MetaNamespaceKeyFunc: %s\n", obj, key)
	}

	key, err := podKey(pod1)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, "toy pod, a key function of our own:", key)
	_, err = podKey(namespaced)
	fmt.Fprintln(out, "a foreign type, a key function of our own:", err)
	return nil
}
