package main

import (
	"context"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
)

// version joins the two calls without a gap: a list says which version of the
// world it shows, and a watch from that version brings only what came after.
func version(ctx context.Context, s *kube.Session) error {
	if _, err := s.CreateConfigMap(ctx, "before"); err != nil {
		return err
	}
	list, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, cm := range list.Items {
		s.Printf("LIST : %s\n", cm.Name)
	}
	if _, err := s.CreateConfigMap(ctx, "after"); err != nil {
		return err
	}
	s.Printf("# a watch from the list's version\n")
	if err := showEvents(ctx, s, list.ResourceVersion, 1); err != nil {
		return err
	}
	s.Printf("# a watch from no version: all that exists comes first, as if it were new\n")
	return showEvents(ctx, s, "", 3)
}

// showEvents prints the first n events of a watch. They are sorted: what
// exists already comes in no order of its own.
func showEvents(ctx context.Context, s *kube.Session, resourceVersion string, n int) error {
	watcher, err := s.ConfigMaps().WatchWithContext(ctx, metav1.ListOptions{ResourceVersion: resourceVersion})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	var lines []string
	for range n {
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		lines = append(lines, string(event.Type)+" : "+event.Object.(*corev1.ConfigMap).Name+"\n")
	}
	slices.Sort(lines)
	s.Printf("%s", strings.Join(lines, ""))
	return nil
}
