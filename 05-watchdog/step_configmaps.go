package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/step"
)

// stepConfigmaps runs a WatchDog on ConfigMaps: nothing in a WatchDog knows pods. (Every namespace
// has the ConfigMap kube-root-ca.crt.)
func stepConfigmaps(ctx context.Context, l *step.Lesson) error {
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(
			l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace, fields.Everything()),
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: func(obj any, isInInitialList bool) {
				configMap := obj.(*corev1.ConfigMap)
				fmt.Fprintf(l.Out, "OnAdd : %s : in the first list: %t\n", configMap.Name, isInInitialList)
			},
			UpdateFunc: func(oldObj, newObj any) {
				old, configMap := oldObj.(*corev1.ConfigMap), newObj.(*corev1.ConfigMap)
				fmt.Fprintf(l.Out, "OnUpdate : %s : %s (was %s)\n",
					configMap.Name, configMap.Data["sky"], old.Data["sky"])
			},
			DeleteFunc: func(obj any) {
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = tombstone.Obj // the last known state: see the step tombstone
				}
				if configMap, ok := obj.(*corev1.ConfigMap); ok {
					fmt.Fprintf(l.Out, "OnDelete : %s : %s\n", configMap.Name, configMap.Data["sky"])
				}
			},
		},
	})
	if err != nil {
		return err
	}
	return dog.Run(ctx) // nil, when the context ends
}
