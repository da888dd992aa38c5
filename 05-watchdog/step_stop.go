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
func stepStop(ctx context.Context, l *step.Lesson) error {
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
			fields.OneTermEqualSelector("metadata.name", "weather")),
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { fmt.Fprintln(l.Out, "OnAdd :", obj.(*corev1.ConfigMap).Name) },
		},
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "Run :", dog.Run(ctx))
	fmt.Fprintln(l.Out, "still in the store :", dog.Store().ListKeys())
	fmt.Fprintln(l.Out, "Run once more :", dog.Run(ctx))
	return nil
}
