package main

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/step"
)

// stepVersion lists, and watches without a gap. A list has a version. A WATCH from this
// version sends only the changes after the list.
func stepVersion(ctx context.Context, env *step.Env) error {
	configMaps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, configMap := range list.Items {
		fmt.Fprintln(env.Out, "LIST :", configMap.Name)
	}
	between := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "between"}}
	if _, err := configMaps.Create(ctx, between, metav1.CreateOptions{}); err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "created :", between.Name)

	watcher, err := configMaps.Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for event := range watcher.ResultChan() {
		configMap, ok := event.Object.(*corev1.ConfigMap)
		if !ok { // an ERROR, with a *metav1.Status; it may be the end of ctx
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		fmt.Fprintf(env.Out, "WATCH : %s : %s\n", event.Type, configMap.Name)
	}
	return nil
}
