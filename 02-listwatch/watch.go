package main

import (
	"context"
	"errors"
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

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	life := make(chan error, 1)
	go func() {
		err := s.PodLife(ctx, "nettool")
		if err != nil {
			watcher.Stop() // no DELETED will come
		}
		life <- err
	}()
	shown := showLife(s, watcher)
	if shown != nil {
		cancel() // what the pod's life waits for may never be printed
	}
	if err := <-life; err != nil && !errors.Is(err, context.Canceled) {
		return err
	}
	return shown
}

// showLife prints the events of a watch, up to the one that says DELETED.
func showLife(s *kube.Session, watcher apiwatch.Interface) error {
	for event := range watcher.ResultChan() {
		if err := showPod(s, event); err != nil {
			return err
		}
		if event.Type == apiwatch.Deleted {
			return nil
		}
	}
	return errors.New("the watch ended before the pod was gone")
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
