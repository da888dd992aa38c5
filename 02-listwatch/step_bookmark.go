package main

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"example.com/informer/scripts/harness/step"
)

// stepBookmark watches ConfigMaps with a label, from a version before it creates a ConfigMap
// without this label. The watch sends no event for that ConfigMap. But it sends a bookmark with a
// newer version: the client has all events up to this version.
func stepBookmark(ctx context.Context, env *step.Env) error {
	configMaps := env.Client.CoreV1().ConfigMaps(env.Namespace)
	list, err := configMaps.List(ctx, metav1.ListOptions{LabelSelector: "watch=me"})
	if err != nil {
		return err
	}
	unseen, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "unseen"}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintln(env.Out, "created, without the label :", unseen.Name)

	for ctx.Err() == nil {
		watcher, err := configMaps.Watch(ctx, metav1.ListOptions{
			LabelSelector:       "watch=me",
			ResourceVersion:     list.ResourceVersion,
			AllowWatchBookmarks: true,
			TimeoutSeconds:      new(int64(5)), // a bookmark comes about once a minute, and 2 s before this
		})
		if err != nil {
			return err
		}
		event, ok := <-watcher.ResultChan()
		watcher.Stop()
		if !ok {
			continue // a busy server was too late with its bookmark, and the watch has ended: watch again
		}
		bookmark, ok := event.Object.(*corev1.ConfigMap)
		if !ok {
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		fmt.Fprintf(env.Out, "%s : name %q, data %v, labels %v\n",
			event.Type, bookmark.Name, bookmark.Data, bookmark.Labels)
		order, err := resourceversion.CompareResourceVersion(bookmark.ResourceVersion, unseen.ResourceVersion)
		fmt.Fprintln(env.Out, "its version covers the ConfigMap that we did not see :", order >= 0)
		return err
	}
	return ctx.Err()
}
