package main

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepWatch prints each event of a watch. The first events are for the pods that exist. Then there
// is an event for every change of a pod: its creation, each new status, the request to delete it,
// and its end.
func stepWatch(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(
		env.Client.CoreV1().RESTClient(), "pods", env.Namespace, fields.Everything())
	watcher, err := listWatch.WatchWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		if !ok { // an ERROR, with a *metav1.Status; it may be the end of ctx
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		fmt.Fprintf(env.Out, "%s : %s : %s\n", event.Type, pod.Name, pod.Status.Phase)
	}
	return nil
}
