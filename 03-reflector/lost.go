package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// lost shows the delete that never arrives: a queue that knows only what is
// waiting in it has nothing to delete once the pod has been popped.
func lost(ctx context.Context, s *kube.Session) error {
	queue := &patient{DeltaFIFO: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cache.MetaNamespaceKeyFunc, // and no KnownObjects
	})}
	reflector := cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0)
	defer flow.Start(ctx, reflector)()

	life := func(ctx context.Context) error {
		if err := flow.UntilListed(ctx, reflector); err != nil {
			return err
		}
		if err := s.PodLife(ctx, "nettool"); err != nil {
			return err
		}
		_, err := s.Clientset.CoreV1().Pods(s.Namespace).Create(ctx, kube.GatedPod("after"), metav1.CreateOptions{})
		return err
	}
	return flow.Together(ctx, life, func(ctx context.Context) error {
		return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
			defer queue.popped.Add(1)
			if d.Object.(*corev1.Pod).Name == "after" {
				s.Printf("# nettool is gone from the server, and here is a pod that was created after its end\n")
			}
			return showPod(s, d, "Added after")
		})
	})
}
