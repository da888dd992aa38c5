package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepClientgo adds two handlers to an informer of client-go. NewSharedInformer is the simplest
// constructor of a shared informer.
func stepClientgo(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	configMaps := cache.NewSharedInformer(listWatch, &corev1.ConfigMap{}, 0)
	for _, name := range []string{"first", "second"} {
		_, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				fmt.Fprintf(env.Out, "%s : OnAdd : %s\n", name, obj.(*corev1.ConfigMap).Data["sky"])
			},
			UpdateFunc: func(oldObj, newObj any) {
				oldMap, newMap := oldObj.(*corev1.ConfigMap), newObj.(*corev1.ConfigMap)
				fmt.Fprintf(env.Out, "%s : OnUpdate : %s (was %s)\n", name, newMap.Data["sky"], oldMap.Data["sky"])
			},
			DeleteFunc: func(obj any) {
				key, _ := cache.DeletionHandlingObjectToName(obj) // works for a tombstone, too
				fmt.Fprintf(env.Out, "%s : OnDelete : %s\n", name, key.Name)
			},
		})
		if err != nil {
			return err
		}
	}
	configMaps.RunWithContext(ctx)
	return nil
}
