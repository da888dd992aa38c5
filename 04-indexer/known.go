package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// known lets the queue look into the store that its consumer keeps. Now Deleted
// arrives; and the consumer can say what a pod was before it changed.
func known(ctx context.Context, s *kube.Session) error {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: store,
	})
	defer flow.Start(ctx, cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0))()
	if err := flow.Until(ctx, "the first list", queue.HasSynced); err != nil { // it holds no pods
		return err
	}
	err := flow.Together(ctx,
		func(ctx context.Context) error { return s.PodLife(ctx, "nettool") },
		func(ctx context.Context) error {
			return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
				old, err := keep(store, d)
				if err != nil {
					return err
				}
				return showChange(s, d, old)
			})
		})
	if err != nil {
		return err
	}
	s.Printf("in the store : %d objects\n", len(store.ListKeys()))
	return nil
}

// keep does to the store what the delta says has happened, and returns what
// the store had instead: nil for what is new.
func keep(store cache.Store, d cache.Delta) (old any, err error) {
	old, _, err = store.Get(d.Object)
	if err != nil {
		return nil, err
	}
	if d.Type == cache.Deleted {
		return old, store.Delete(d.Object)
	}
	return old, store.Update(d.Object) // which also adds
}

// showChange prints a delta, unless it leaves the pod's phase as it was. The
// end of the pod is enough.
func showChange(s *kube.Session, d cache.Delta, old any) error {
	was, known := old.(*corev1.Pod)
	pod, ok := d.Object.(*corev1.Pod)
	switch {
	case d.Type == cache.Deleted && known: // what was stored: the delta may hold a tombstone
		s.Printf("%s : %s : %s\n", d.Type, was.Name, was.Status.Phase)
		return flow.ErrEnough
	case !ok:
		return fmt.Errorf("want a pod, got %T", d.Object)
	case !known:
		s.Printf("%s : %s : %s\n", d.Type, pod.Name, pod.Status.Phase)
	case was.Status.Phase != pod.Status.Phase:
		s.Printf("%s : %s : %s, was %s\n", d.Type, pod.Name, pod.Status.Phase, was.Status.Phase)
	}
	return nil
}
