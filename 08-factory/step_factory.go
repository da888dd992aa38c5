package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepFactory asks for the informers of two types, starts both with one call, and waits for both
// with another call.
func stepFactory(ctx context.Context, l *step.Lesson) error {
	f := factory.New(l.Client, factory.Options{Namespace: l.Namespace})
	defer f.Shutdown()
	configMaps, pods := f.ConfigMaps(), f.Pods() // makes the informers, and does not start them
	if _, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if !isInInitialList {
				fmt.Fprintln(l.Out, "config maps : OnAdd :", obj.(*corev1.ConfigMap).Name)
			}
		},
	}); err != nil {
		return err
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, newObj any) { fmt.Fprintln(l.Out, "pods : OnUpdate :", newObj.(*corev1.Pod).Name) },
		DeleteFunc: func(obj any) {
			key, _ := cache.DeletionHandlingObjectToName(obj) // obj may be a tombstone
			fmt.Fprintln(l.Out, "pods : OnDelete :", key.Name)
		},
	}); err != nil {
		return err
	}

	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "ConfigMap :", names(configMaps.Lister().List(labels.Everything())))
	fmt.Fprintln(l.Out, "Pod :", names(pods.Lister().List(labels.Everything())))
	<-ctx.Done()
	return nil
}
