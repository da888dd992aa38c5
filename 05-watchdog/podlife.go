package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/05-watchdog/watchdog"
)

// podLife hands a WatchDog three things: where pods are listed and watched,
// what a pod is, and whom to tell.
func podLife(ctx context.Context, s *kube.Session) (err error) {
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: s.Pods(),
		ObjectType:    &corev1.Pod{},
		Handler:       calls.Print(s.Printf, calls.Phase),
	})
	if err != nil {
		return err
	}
	stop, err := start(ctx, dog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	if err := s.PodLife(ctx, "nettool"); err != nil {
		return err
	}
	return s.WaitPrinted(ctx, "OnDelete : nettool")
}
