package main

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/labels"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/08-factory/factory"
)

// twoTypes asks for two types, starts both with one call, and waits for both
// with another.
func twoTypes(ctx context.Context, s *kube.Session) error {
	if err := errors.Join(create(ctx, s, "weather", "blue"), createPod(ctx, s, "web", "web")); err != nil {
		return err
	}
	f := factory.New(s.Clientset, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()
	configMaps, pods := f.ConfigMaps(), f.Pods()
	if _, err := configMaps.Informer().AddEventHandler(calls(s.Printf, "config maps")); err != nil {
		return err
	}
	if _, err := pods.Informer().AddEventHandler(calls(s.Printf, "pods")); err != nil {
		return err
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	s.Printf("ConfigMap : %s\n", names(configMaps.Lister().List(labels.Everything())))
	s.Printf("Pod : %s\n", names(pods.Lister().List(labels.Everything())))

	if err := create(ctx, s, "menu", "red"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "config maps : OnAdd : menu"); err != nil {
		return err
	}
	if err := s.DeletePod(ctx, "web"); err != nil {
		return err
	}
	return s.WaitPrinted(ctx, "pods : OnDelete : web")
}
