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

	"example.com/informer/scripts/harness/step"
)

// stepVersion joins the two calls without a gap: a LIST says which version of the
// world it shows, and a WATCH from that version brings only what came after.
func stepVersion(ctx context.Context, l *step.Lesson) error {
	configMaps := l.Client.CoreV1().ConfigMaps(l.Namespace)
	list, err := configMaps.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, configMap := range list.Items {
		fmt.Fprintln(l.Out, "LIST :", configMap.Name)
	}
	after, err := configMaps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "after"}},
		metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintln(l.Out, "created :", after.Name)

	for _, from := range []struct {
		name, version string
		events        int
	}{
		{"the list's version", list.ResourceVersion, 1},
		{"no version", "", len(list.Items) + 1},
	} {
		watcher, err := configMaps.Watch(ctx, metav1.ListOptions{
			ResourceVersion: from.version,
			TimeoutSeconds:  new(int64(30)), // then the server ends the watch
		})
		if err != nil {
			return err
		}
		defer watcher.Stop()
		var lines []string
		for len(lines) < from.events {
			event := <-watcher.ResultChan()
			configMap, ok := event.Object.(*corev1.ConfigMap)
			if !ok {
				return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
			}
			lines = append(lines, fmt.Sprintf("WATCH from %s : %s : %s\n", from.name, event.Type, configMap.Name))
		}
		slices.Sort(lines) // what exists comes in no order of its own
		fmt.Fprint(l.Out, strings.Join(lines, ""))
	}
	return nil
}
