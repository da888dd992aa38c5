package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"example.com/informer/scripts/harness/step"
)

// stepStream gets a list without a LIST. The watch first sends the objects that exist, one by one.
// A bookmark with an annotation marks the end of this list.
func stepStream(ctx context.Context, env *step.Env) error {
	watcher, err := env.Client.CoreV1().ConfigMaps(env.Namespace).Watch(ctx, metav1.ListOptions{
		SendInitialEvents:    new(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks:  true,
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	var initial []string // the lines of the objects that exist, which come in no order
	complete := false
	for event := range watcher.ResultChan() {
		configMap, ok := event.Object.(*corev1.ConfigMap)
		if !ok { // an ERROR, with a *metav1.Status; it may be the end of ctx
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		line := fmt.Sprintf("%s : %s\n", event.Type, configMap.Name)
		switch {
		case event.Type == watch.Bookmark:
			if configMap.Annotations[metav1.InitialEventsAnnotationKey] != "true" {
				continue // such bookmarks come about once a minute
			}
			complete = true
			slices.Sort(initial)
			fmt.Fprintf(env.Out, "%s%s : %v\n", strings.Join(initial, ""), event.Type, configMap.Annotations)
		case !complete:
			initial = append(initial, line)
		default:
			fmt.Fprint(env.Out, line)
		}
	}
	return nil
}
