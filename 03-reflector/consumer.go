// What the consumers of this chapter share: a store to keep, and what to print.

package main

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// newQueue returns client-go's DeltaFIFO, and the store whose objects it
// takes for known. Whoever drains the queue keeps the store.
func newQueue() (cache.Store, *cache.DeltaFIFO) {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	return store, cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: store,
	})
}

// keep does to the store what the delta says has happened.
func keep(store cache.Store, d cache.Delta) error {
	if d.Type != cache.Deleted {
		return store.Add(d.Object)
	}
	return store.Delete(d.Object)
}

// showConfigMap prints a delta of a ConfigMap, or of its tombstone, and says
// flow.ErrEnough after the last one.
func showConfigMap(s *kube.Session, d cache.Delta, last string) error {
	obj, note := d.Object, ""
	if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj, note = gone.Obj, " (a tombstone)"
	}
	configMap, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return fmt.Errorf("want a ConfigMap, got %T", obj)
	}
	s.Printf("%s : %s%s\n", d.Type, configMap.Name, note)
	if last == fmt.Sprintf("%s %s", d.Type, configMap.Name) {
		return flow.ErrEnough
	}
	return nil
}

// showPod prints a delta of a pod, and says flow.ErrEnough after the last one.
func showPod(s *kube.Session, d cache.Delta, last string) error {
	pod, ok := d.Object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("want a pod, got %T", d.Object)
	}
	s.Printf("%s : %s : %s\n", d.Type, pod.Name, pod.Status.Phase)
	if last == fmt.Sprintf("%s %s", d.Type, pod.Name) {
		return flow.ErrEnough
	}
	return nil
}
