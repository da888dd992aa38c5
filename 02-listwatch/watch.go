package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiwatch "k8s.io/apimachinery/pkg/watch"

	"example.com/informer/02-listwatch/kube"
)

// watch sees a pod come, change and go: one event for each change.
func watch(ctx context.Context, s *kube.Session) error {
	watcher, err := s.Pods().WatchWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watcher.Stop()

	life := make(chan error, 1)
	go func() {
		life <- s.PodLife(ctx, "nettool")
		watcher.Stop()
	}()
	for event := range watcher.ResultChan() {
		if err := showPod(s, event); err != nil {
			return err
		}
		if event.Type == apiwatch.Deleted {
			break
		}
	}
	return <-life
}

// showPod prints what an event says about its pod.
func showPod(s *kube.Session, event apiwatch.Event) error {
	pod, ok := event.Object.(*corev1.Pod)
	if !ok {
		return fmt.Errorf("the watch failed: %w", statusError(event))
	}
	s.Printf("%s : %s : %s\n", event.Type, pod.Name, pod.Status.Phase)
	return nil
}
