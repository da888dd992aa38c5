package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepDeployments uses client-go's factory as many programs do: with a resync every 30 seconds, a
// lister, Start, and WaitForCacheSync.
func stepDeployments(ctx context.Context, env *step.Env) error {
	f := informers.NewSharedInformerFactoryWithOptions(
		env.Client, 30*time.Second, informers.WithNamespace(env.Namespace))
	ctx, cancel := context.WithCancel(ctx)
	defer f.Shutdown() // waits for the informers, which end when ctx ends
	defer cancel()

	deployments := f.Apps().V1().Deployments()
	lister := deployments.Lister() // makes the informer, so it has to come before Start
	_, err := deployments.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(oldObj, newObj any) {
			before, after := oldObj.(*appsv1.Deployment), newObj.(*appsv1.Deployment)
			if *before.Spec.Replicas != *after.Spec.Replicas { // neither a resync nor a new status
				fmt.Fprintf(env.Out, "OnUpdate : %s : replicas %d (was %d)\n",
					after.Name, *after.Spec.Replicas, *before.Spec.Replicas)
			}
		},
	})
	if err != nil {
		return err
	}
	f.StartWithContext(ctx)
	synced := f.WaitForCacheSyncWithContext(ctx)
	if err := synced.AsError(); err != nil {
		return err
	}
	for goType, hasSynced := range synced.Synced {
		fmt.Fprintf(env.Out, "%v : synced : %t\n", goType, hasSynced)
	}
	found, err := lister.List(labels.Everything())
	if err != nil {
		return err
	}
	for _, deployment := range found {
		fmt.Fprintf(env.Out, "lister : %s : replicas %d\n", deployment.Name, *deployment.Spec.Replicas)
	}
	<-ctx.Done()
	return nil
}
