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

// stepInformer adds two handlers to one informer. They share one list, one watch and one store.
// (Not every update of a pod changes its phase.)
func stepInformer(ctx context.Context, l *step.Lesson) error {
	listWatch := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "pods", l.Namespace, fields.Everything())
	pods := informer.New(listWatch, &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	for _, name := range []string{"first", "second"} {
		_, err := pods.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				pod := obj.(*corev1.Pod)
				fmt.Fprintf(l.Out, "%s : OnAdd : %s : %s\n", name, pod.Name, pod.Status.Phase)
			},
			UpdateFunc: func(oldObj, newObj any) {
				old, pod := oldObj.(*corev1.Pod), newObj.(*corev1.Pod)
				fmt.Fprintf(l.Out, "%s : OnUpdate : %s : %s (was %s)\n",
					name, pod.Name, pod.Status.Phase, old.Status.Phase)
			},
			DeleteFunc: func(obj any) {
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = tombstone.Obj // the last known state: see chapter 05
				}
				if pod, ok := obj.(*corev1.Pod); ok {
					fmt.Fprintf(l.Out, "%s : OnDelete : %s : %s\n", name, pod.Name, pod.Status.Phase)
				}
			},
		})
		if err != nil {
			return err
		}
	}
	pods.RunWithContext(ctx)
	return nil
}
