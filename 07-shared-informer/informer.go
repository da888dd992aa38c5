package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/07-shared-informer/informer"
)

// podLife lets two handlers listen to one informer. The first prints at once;
// the second keeps what it hears to itself until the pod is gone.
func podLife(ctx context.Context, s *kube.Session) error {
	var second log
	pods := informer.New(s.Pods(), &corev1.Pod{}, cache.SharedIndexInformerOptions{})
	if _, err := pods.AddEventHandler(named(s.Printf, "first", calls.Phase)); err != nil {
		return err
	}
	if _, err := pods.AddEventHandler(named(second.Printf, "second", calls.Phase)); err != nil {
		return err
	}
	stop, err := start(ctx, pods)
	if err != nil {
		return err
	}
	defer stop()

	if err := s.PodLife(ctx, "nettool"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "first : OnDelete"); err != nil {
		return err
	}
	if err := second.wait(ctx, "OnDelete", 1); err != nil {
		return err
	}
	s.Printf("# and the second handler\n%s", second.Text())
	return nil
}
