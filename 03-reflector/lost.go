package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
)

// lost shows the delete that never arrives: a queue that knows only what is
// waiting in it has nothing to delete once the pod has been popped.
func lost(ctx context.Context, s *kube.Session) error {
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cache.MetaNamespaceKeyFunc, // and no KnownObjects
	})
	reflector := cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0)
	defer start(ctx, reflector)()

	life := background(func() error {
		if err := listed(ctx, reflector); err != nil {
			return err
		}
		if err := s.PodLife(ctx, "nettool"); err != nil {
			return err
		}
		s.Printf("# nettool is gone from the server; what comes next is younger than its end\n")
		return s.CreateGatedPod(ctx, "after")
	}, queue)
	return life(drainDeltas(ctx, queue, func(d cache.Delta) error { return showPod(s, d, "Added after") }))
}
