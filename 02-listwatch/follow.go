package main

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kube"
)

// follow shows the pods of a namespace as they change, until Ctrl-C.
func follow(ctx context.Context, s *kube.Session) error {
	s.Printf("Watching pods. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s run nettool --image=%[2]s\n  %[1]s label pod nettool colour=blue\n  %[1]s delete pod nettool\n",
		s.Kubectl(), kube.PauseImage)
	watcher, err := s.Pods().WatchWithContext(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	defer watcher.Stop()
	for {
		event, err := next(ctx, watcher)
		if err != nil {
			return err
		}
		if err := showPod(s, event); err != nil {
			return err
		}
	}
}
