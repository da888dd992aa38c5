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
func stepFactory(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace})
	defer f.Shutdown()
	configMaps, pods := f.ConfigMaps(), f.Pods() // makes the informers, and does not start them
	if _, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(obj any, isInInitialList bool) {
			if !isInInitialList {
				fmt.Fprintln(env.Out, "config maps : OnAdd :", obj.(*corev1.ConfigMap).Name)
			}
		},
	}); err != nil {
		return err
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(_, newObj any) { fmt.Fprintln(env.Out, "pods : OnUpdate :", newObj.(*corev1.Pod).Name) },
		DeleteFunc: func(obj any) {
			key, _ := cache.DeletionHandlingObjectToName(obj) // obj may be a tombstone
			fmt.Fprintln(env.Out, "pods : OnDelete :", key.Name)
		},
	}); err != nil {
		return err
	}

	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "ConfigMap :", names(configMaps.Lister().List(labels.Everything())))
	fmt.Fprintln(env.Out, "Pod :", names(pods.Lister().List(labels.Everything())))
	<-ctx.Done()
	return nil
}
