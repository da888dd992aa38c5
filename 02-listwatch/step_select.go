package main

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepSelect lists and watches with field selectors and label selectors. The server selects the
// objects. If an object no longer matches, its watch event is DELETED.
func stepSelect(ctx context.Context, env *step.Env) error {
	client := env.Client.CoreV1().RESTClient()
	for _, selector := range []string{"metadata.name=db-1", "data.colour=blue"} {
		byField := cache.NewFilteredListWatchFromClient(client, "configmaps", env.Namespace,
			func(options *metav1.ListOptions) { options.FieldSelector = selector })
		list, err := byField.ListWithContext(ctx, metav1.ListOptions{})
		if apierrors.IsBadRequest(err) {
			fmt.Fprintf(env.Out, "LIST %s : %v\n", selector, err)
			continue
		}
		if err != nil {
			return err
		}
		for _, configMap := range list.(*corev1.ConfigMapList).Items {
			fmt.Fprintf(env.Out, "LIST %s : %s\n", selector, configMap.Name)
		}
	}

	byLabel := cache.NewFilteredListWatchFromClient(client, "configmaps", env.Namespace,
		func(options *metav1.ListOptions) { options.LabelSelector = "app=web" })
	list, err := byLabel.ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	selected := list.(*corev1.ConfigMapList)
	for _, configMap := range selected.Items {
		fmt.Fprintln(env.Out, "LIST app=web :", configMap.Name)
	}
	watcher, err := byLabel.WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: selected.ResourceVersion})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		configMap, ok := event.Object.(*corev1.ConfigMap)
		if !ok { // an ERROR, with a *metav1.Status; it may be the end of ctx
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		fmt.Fprintf(env.Out, "WATCH app=web : %s : %s\n", event.Type, configMap.Name)
	}
	return nil
}
