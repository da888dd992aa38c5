package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
)

// lost shows the delete that never arrives: a queue that knows only what is
// waiting in it has nothing to delete once the object has been popped. (It is
// a ConfigMap, which goes in one event. A pod is changed once more just before
// it goes: it is lost only if the consumer pops that change in time.)
func lost(ctx context.Context, s *kube.Session) error {
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cache.MetaNamespaceKeyFunc, // and no KnownObjects
	})
	reflector := cache.NewReflector(s.OwnConfigMaps(), &corev1.ConfigMap{}, queue, 0)
	defer flow.Start(ctx, reflector)()

	life := background(func() error {
		if err := flow.UntilListed(ctx, reflector); err != nil {
			return err
		}
		return shortLife(ctx, s)
	}, queue)
	return life(flow.DrainDeltas(ctx, queue, func(d cache.Delta) error { return showConfigMap(s, d, "Added after") }))
}

// shortLife creates an object, deletes it when it was seen, and creates another.
func shortLife(ctx context.Context, s *kube.Session) error {
	if _, err := s.CreateConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "Added : doomed"); err != nil {
		return err
	}
	if err := s.DeleteConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	s.Printf("# doomed is gone from the server; what comes now is younger than its end\n")
	_, err := s.CreateConfigMap(ctx, "after")
	return err
}
