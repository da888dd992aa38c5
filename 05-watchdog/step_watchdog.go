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

// stepWatchdog gives a WatchDog three things: a ListerWatcher of pods, the type of the objects, and
// a handler.
func stepWatchdog(ctx context.Context, env *step.Env) error {
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(
			env.Client.CoreV1().RESTClient(), "pods", env.Namespace, fields.Everything()),
		ObjectType: &corev1.Pod{},
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				pod := obj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "OnAdd : %s : %s\n", pod.Name, pod.Status.Phase)
			},
			UpdateFunc: func(oldObj, newObj any) {
				old, pod := oldObj.(*corev1.Pod), newObj.(*corev1.Pod)
				fmt.Fprintf(env.Out, "OnUpdate : %s : %s (was %s)\n", pod.Name, pod.Status.Phase, old.Status.Phase)
			},
			DeleteFunc: func(obj any) {
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = tombstone.Obj // the last known state: see the step tombstone
				}
				if pod, ok := obj.(*corev1.Pod); ok {
					fmt.Fprintf(env.Out, "OnDelete : %s : %s\n", pod.Name, pod.Status.Phase)
				}
			},
		},
	})
	if err != nil {
		return err
	}
	return dog.Run(ctx) // nil, when the context ends
}
