package main

import (
	"context"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/05-watchdog/watchdog"
)

// stopping ends a WatchDog with its context, tries to run it again, and then
// ends one whose handler does not return.
func stopping(ctx context.Context, s *kube.Session) error {
	if err := s.CreateConfigMapWith(ctx, "weather", "sky", "blue"); err != nil {
		return err
	}
	dog, stop, err := watch(ctx, s, calls.Print(s.Printf, calls.Data))
	if err != nil {
		return err
	}
	s.Printf("# the context ends\n")
	s.Printf("Run : %v\n", stop())
	if err := s.DeleteConfigMap(ctx, "weather"); err != nil {
		return err
	}
	s.Printf("the store still holds : %s\n", names(dog.Store()))
	s.Printf("Run once more : %v\n", dog.Run(ctx))

	s.Printf("# a handler that does not return\n")
	return blocked(ctx, s)
}

// blocked ends the context of a WatchDog while its handler is busy.
func blocked(ctx context.Context, s *kube.Session) error {
	busy, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: s.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       cache.ResourceEventHandlerFuncs{AddFunc: func(any) { close(busy); <-release }},
		StopTimeout:   time.Second,
	})
	if err != nil {
		return err
	}
	run, cancel := context.WithCancel(ctx)
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- dog.Run(run) }()
	if err := s.CreateConfigMapWith(ctx, "slow", "sky", "blue"); err != nil {
		return err
	}
	select {
	case <-busy:
	case <-ctx.Done():
	}
	s.Printf("# the context ends\n")
	cancel()
	err = <-ended
	s.Printf("Run : %s\n", strings.ReplaceAll(err.Error(), s.Namespace, "NAMESPACE"))
	return nil
}
