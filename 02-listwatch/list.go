package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
)

// list gets pods through a ListWatch, the pair of functions that client-go's
// informers are given to read with.
func list(ctx context.Context, s *kube.Session) error {
	for _, name := range []string{"web-1", "web-2"} {
		if err := s.RunPod(ctx, name); err != nil {
			return err
		}
		if err := s.WaitRunning(ctx, name); err != nil {
			return err
		}
	}
	obj, err := s.Pods().ListWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	pods, ok := obj.(*corev1.PodList)
	if !ok {
		return fmt.Errorf("want a list of pods, got %T", obj)
	}
	for _, pod := range pods.Items {
		s.Printf("%s : %s\n", pod.Name, pod.Status.Phase)
	}
	return nil
}
