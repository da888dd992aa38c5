package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"example.com/informer/02-listwatch/kube"
)

// bookmark watches ConfigMaps with a label, while one without it is made. No
// event comes of that, but a bookmark says: you have seen all up to here.
func bookmark(ctx context.Context, s *kube.Session) error {
	const labelled = "watch=me"
	list, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labelled})
	if err != nil {
		return err
	}
	// The server sends a bookmark about once a minute, and 2 s before a watch
	// times out; the timeout is short so that there is less to wait for.
	watcher, err := s.ConfigMaps().WatchWithContext(ctx, metav1.ListOptions{
		LabelSelector:       labelled,
		ResourceVersion:     list.ResourceVersion,
		AllowWatchBookmarks: true,
		TimeoutSeconds:      new(int64(5)),
	})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	unseen, err := s.CreateConfigMap(ctx, "unseen") // without the label
	if err != nil {
		return err
	}
	event, err := next(ctx, watcher)
	if err != nil {
		return err
	}
	mark := event.Object.(*corev1.ConfigMap)
	s.Printf("%s : name %q, data %v, labels %v\n", event.Type, mark.Name, mark.Data, mark.Labels)

	newer, err := resourceversion.CompareResourceVersion(mark.ResourceVersion, unseen.ResourceVersion)
	if err != nil {
		return err
	}
	s.Printf("its version covers the ConfigMap that we did not see: %t\n", newer >= 0)
	return nil
}
