package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// ours puts the queue of chapter 01 in the place of client-go's. A reflector
// asks for Add, Update, Delete, Replace and Resync, and cares for nothing else.
func ours(ctx context.Context, s *kube.Session) error {
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc)
	queue := deltafifo.New(deltafifo.Options{KnownObjects: store})
	reflector := cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0)
	defer flow.Start(ctx, reflector)()

	life := func(ctx context.Context) error {
		if err := flow.UntilListed(ctx, reflector); err != nil {
			return err
		}
		return s.PodLife(ctx, "nettool")
	}
	pop := func() error {
		return queue.Pop(func(deltas cache.Deltas) error {
			return flow.ForEach(deltas, func(d cache.Delta) error {
				return errors.Join(keep(store, d), showPod(s, d, "Deleted nettool"))
			})
		})
	}
	return flow.Together(ctx, life, func(ctx context.Context) error { return flow.Drain(ctx, queue, pop) })
}
