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

// stepTombstone cuts the connection of the WatchDog while an object is deleted. The next list does
// not have that object, and OnDelete gets a tombstone. For each object in the list, OnUpdate is
// called once more.
func stepTombstone(ctx context.Context, env *step.Env) error {
	client, cable, err := env.DisconnectableClient(ctx)
	if err != nil {
		return err
	}
	env.On("the cable is pulled out", cable.Pull)
	env.On("the cable is plugged in", cable.Restore)
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", env.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")), // which every namespace has
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { fmt.Fprintln(env.Out, "OnAdd :", obj.(*corev1.ConfigMap).Name) },
			UpdateFunc: func(_, newObj any) { fmt.Fprintln(env.Out, "OnUpdate :", newObj.(*corev1.ConfigMap).Name) },
			DeleteFunc: func(obj any) {
				prefix := "OnDelete :"
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					prefix = "OnDelete : a tombstone :"
					obj = tombstone.Obj
				}
				if configMap, ok := obj.(*corev1.ConfigMap); ok { // a tombstone may have a Key and no object
					fmt.Fprintln(env.Out, prefix, configMap.Name)
				}
			},
		},
	})
	if err != nil {
		return err
	}
	return dog.Run(ctx) // nil, when the context ends
}
