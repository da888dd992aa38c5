package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepList lists pods with a ListWatch, which has the two calls that an informer makes. The type of
// its result is runtime.Object, for lists of any type.
func stepList(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(
		env.Client.CoreV1().RESTClient(), "pods", env.Namespace, fields.Everything())
	list, err := listWatch.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, ok := list.(*corev1.PodList)
	if !ok {
		return fmt.Errorf("want a list of pods, got %T", list)
	}
	for _, pod := range pods.Items {
		fmt.Fprintf(env.Out, "%s : %s\n", pod.Name, pod.Status.Phase)
	}
	return nil
}
