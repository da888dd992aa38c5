package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// follow shows the deltas of a namespace's pods, until Ctrl-C.
func follow(ctx context.Context, s *kube.Session) error {
	s.Printf("A reflector pours pods into a queue. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s run nettool --image=%[2]s\n  %[1]s delete pod nettool\n", s.Kubectl(), kube.PauseImage)
	store, queue := newQueue()
	defer flow.Start(ctx, cache.NewReflector(s.Pods(), &corev1.Pod{}, queue, 0))()
	return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
		return errors.Join(keep(store, d), showPod(s, d, ""))
	})
}
