package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/05-watchdog/watchdog"
)

// follow shows the calls for a namespace's pods, until Ctrl-C.
func follow(ctx context.Context, s *kube.Session) error {
	s.Printf("A WatchDog tells of pods. Try these in another terminal, and Ctrl-C here when done:\n"+
		"  %[1]s run nettool --image=%[2]s\n  %[1]s label pod nettool colour=blue\n  %[1]s delete pod nettool\n",
		s.Kubectl(), kube.PauseImage)
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: s.Pods(),
		ObjectType:    &corev1.Pod{},
		Handler:       calls.Print(s.Printf, calls.Phase),
	})
	if err != nil {
		return err
	}
	return dog.Run(ctx)
}
