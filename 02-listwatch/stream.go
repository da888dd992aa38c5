package main

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"example.com/informer/02-listwatch/kube"
)

// stream gets a list without LIST: the watch first sends what exists, one
// object at a time, and closes that part with a bookmark that says so.
func stream(ctx context.Context, s *kube.Session) error {
	for _, name := range []string{"one", "two"} {
		if _, err := s.CreateConfigMap(ctx, name); err != nil {
			return err
		}
	}
	watcher, err := s.ConfigMaps().WatchWithContext(ctx, metav1.ListOptions{
		SendInitialEvents:    new(true),
		ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks:  true,
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	var initial []string
	for {
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		cm := event.Object.(*corev1.ConfigMap)
		if event.Type != apiwatch.Bookmark {
			initial = append(initial, string(event.Type)+" : "+cm.Name+"\n")
			continue
		}
		slices.Sort(initial) // the stream has no order of its own
		s.Printf("%s%s : %v\n", strings.Join(initial, ""), event.Type, cm.Annotations)
		break
	}
	if _, err := s.CreateConfigMap(ctx, "three"); err != nil {
		return err
	}
	event, err := next(ctx, watcher)
	if err != nil {
		return err
	}
	s.Printf("%s : %s\n", event.Type, event.Object.(*corev1.ConfigMap).Name)
	return nil
}
