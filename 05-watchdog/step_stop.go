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

// stepStop ends the context of a WatchDog, reads its store, and tries to run it again.
func stepStop(ctx context.Context, env *step.Env) error {
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
			fields.OneTermEqualSelector("metadata.name", "weather")),
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { fmt.Fprintln(env.Out, "OnAdd :", obj.(*corev1.ConfigMap).Name) },
		},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "Run :", dog.Run(ctx))
	fmt.Fprintln(env.Out, "still in the store :", dog.Store().ListKeys())
	fmt.Fprintln(env.Out, "Run once more :", dog.Run(ctx))
	return nil
}
