package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step/play"
)

// stepKeys calls key functions. Then it gives a queue a key function without the namespace: two
// pods with the same name get the same key.
func stepKeys(_ context.Context, env *play.Env) error {
	byDefault := deltafifo.New(deltafifo.Options{}) // uses MetaNamespaceKeyFunc
	fmt.Fprintln(env.Out, "toy pod, default key function:", byDefault.Add(pod{"pod1", 1}))

	first := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns1", Name: "pod1"}}
	second := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ns2", Name: "pod1"}}
	clusterWide := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node1"}}
	for _, obj := range []any{first, second, clusterWide, cache.ExplicitKey("ns1/pod1")} {
		key, err := cache.MetaNamespaceKeyFunc(obj)
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "%T, MetaNamespaceKeyFunc: %s\n", obj, key)
	}
	_, err := podKey(first)
	fmt.Fprintln(env.Out, "a real pod, the key function of toy pods:", err)

	byName := func(obj any) (string, error) {
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return "", fmt.Errorf("want a *corev1.Pod, got %T", obj)
		}
		return pod.Name, nil // without the namespace
	}
	tooShort := deltafifo.New(deltafifo.Options{KeyFunction: byName})
	for _, obj := range []any{first, second} {
		if err := tooShort.Add(obj); err != nil {
			return err
		}
	}
	fmt.Fprintln(env.Out, "two pods by name alone, keys that wait:", len(tooShort.List()))
	return tooShort.Pop(func(deltas cache.Deltas, _ bool) error {
		for _, delta := range deltas {
			fmt.Fprintln(env.Out, delta.Type, ":", delta.Object.(*corev1.Pod).Namespace)
		}
		return nil
	})
}
