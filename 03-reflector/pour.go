package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// pour lets a reflector fill a DeltaFIFO. What the first list holds comes out
// as Sync; what the watch brings comes out as Added, Updated and Deleted.
func pour(ctx context.Context, s *kube.Session) error {
	if err := s.CreateGatedPod(ctx, "early"); err != nil {
		return err
	}
	store, queue := newQueue()
	defer flow.Start(ctx, cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0))()

	life := func(ctx context.Context) error {
		if err := s.WaitPrinted(ctx, "Sync : early"); err != nil {
			return err
		}
		return s.PodLife(ctx, "nettool")
	}
	return flow.Together(ctx, life, func(ctx context.Context) error {
		return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
			return errors.Join(keep(store, d), showPod(s, d, "Deleted nettool"))
		})
	})
}
