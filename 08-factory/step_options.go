package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepOptions caches only the objects of one namespace that have the label app=web, and these
// without their managed fields. The resync period of pods is one second.
func stepOptions(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{
		Namespace:        env.Namespace,
		TweakListOptions: func(options *metav1.ListOptions) { options.LabelSelector = "app=web" },
		Transform:        withoutManagedFields,
		CustomResync:     map[schema.GroupVersionResource]time.Duration{factory.Pods: time.Second},
	})
	defer f.Shutdown()
	resynced := make(chan string, 2)
	if _, err := f.Pods().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(oldObj, newObj any) {
			if oldObj == newObj { // a resync: the object has not changed
				select {
				case resynced <- newObj.(*corev1.Pod).Name:
				default: // the step prints only two resyncs
				}
			}
		},
		DeleteFunc: func(any) { fmt.Fprintln(env.Out, "OnDelete : web") },
	}); err != nil {
		return err
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "in the store :", names(f.Pods().Lister().List(labels.Everything())))
	stored, err := f.Pods().Lister().Pods(env.Namespace).Get("web")
	if err != nil {
		return err
	}
	served, err := env.Client.CoreV1().Pods(env.Namespace).Get(ctx, "web", metav1.GetOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "managed fields : at the server: %t, in the store: %t\n",
		len(served.ManagedFields) > 0, len(stored.ManagedFields) > 0)
	served.ManagedFields = nil
	fmt.Fprintf(env.Out, "everything else : the same at both places: %t\n", equality.Semantic.DeepEqual(stored, served))
	for range 2 {
		select {
		case name := <-resynced:
			fmt.Fprintln(env.Out, "resync : OnUpdate :", name)
		case <-ctx.Done():
			return nil
		}
	}
	<-ctx.Done()
	return nil
}

// withoutManagedFields is the transform of all types of the factory. It drops the managed fields,
// which every object has, and which few programs read.
func withoutManagedFields(obj any) (any, error) {
	object, err := meta.Accessor(obj)
	if err != nil {
		return nil, err
	}
	object.SetManagedFields(nil)
	return obj, nil
}
