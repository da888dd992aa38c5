package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step"
)

// stepKeys asks two key functions, the default one and our own, for the keys of
// objects.
func stepKeys(_ context.Context, l *step.Lesson) error {
	byDefault := deltafifo.New(deltafifo.Options{}) // uses MetaNamespaceKeyFunc
	fmt.Fprintln(l.Out, "toy pod, default key function:", byDefault.Add(pod{"pod1", 1}))

	namespaced := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	clusterWide := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	for _, obj := range []any{namespaced, clusterWide} {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return err
		}
		fmt.Fprintf(l.Out, "%T, MetaNamespaceKeyFunc: %s\n", obj, key)
	}

	key, err := podKey(pod{"pod1", 1})
	if err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "toy pod, a key function of our own:", key)
	_, err = podKey(namespaced)
	fmt.Fprintln(l.Out, "a foreign type, a key function of our own:", err)
	return nil
}
