package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepInformer adds a handler before the informer runs, and another one later. The late handler
// first gets the objects in the store, as adds, and then each change, like the first handler. (Each
// handler has its own goroutine: between them there is no order.)
func stepInformer(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	configMaps := informer.New(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	handler := func(name string) cache.ResourceEventHandler {
		return cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, isInInitialList bool) {
				sky := obj.(*corev1.ConfigMap).Data["sky"]
				fmt.Fprintf(env.Out, "%s : OnAdd : %s, in the initial list: %t\n", name, sky, isInInitialList)
			},
			UpdateFunc: func(oldObj, newObj any) {
				before, after := oldObj.(*corev1.ConfigMap).Data["sky"], newObj.(*corev1.ConfigMap).Data["sky"]
				fmt.Fprintf(env.Out, "%s : OnUpdate : %s (was %s)\n", name, after, before)
			},
			DeleteFunc: func(obj any) {
				key, _ := cache.DeletionHandlingObjectToName(obj) // works for a tombstone, too
				fmt.Fprintf(env.Out, "%s : OnDelete : %s\n", name, key.Name)
			},
		}
	}
	if _, err := configMaps.AddEventHandler(handler("first")); err != nil {
		return err
	}
	env.On("another handler joins", func() {
		env.Requests.Reset()
		registration, err := configMaps.AddEventHandler(handler("late"))
		if err != nil {
			fmt.Fprintln(env.Out, "AddEventHandler :", err)
			return
		}
		if !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) { // with "" it logs nothing
			return // the step ends
		}
		fmt.Fprintf(env.Out, "late : HasSynced : %t, requests to the server : %s\n",
			registration.HasSynced(), env.Requests)
	})
	configMaps.RunWithContext(ctx)
	return nil
}
