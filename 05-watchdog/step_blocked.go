package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/step"
)

// stepBlocked ends the context of a WatchDog while its handler is busy. Run waits for a second.
// Then it returns, and leaves the handler behind.
func stepBlocked(ctx context.Context, env *step.Env) error {
	release := make(chan struct{})
	defer close(release)
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
			fields.OneTermEqualSelector("metadata.name", "slow")),
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				fmt.Fprintln(env.Out, "OnAdd begins :", obj.(*corev1.ConfigMap).Name)
				<-release
			},
		},
		StopTimeout: time.Second,
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "Run :", dog.Run(ctx))
	return nil
}
