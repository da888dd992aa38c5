// The WatchDog and client-go's informer, side by side on the same cluster,
// through thousands of changes and many broken connections.

package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/05-watchdog/history"
	"example.com/informer/05-watchdog/watchdog"
)

// inBackground runs until the test is over.
func inBackground(t *testing.T, run func(context.Context)) {
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); run(ctx) }()
	t.Cleanup(func() { cancel(); <-ended })
}

func runWatchDog(t *testing.T, s *kube.Session) *history.Informer {
	t.Helper()
	in := history.NewInformer(t, s, "WatchDog", 1)
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: in.Session.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       in.Recorders[0],
		OnError:       func(err error) { t.Log(err) },
	})
	must(t, err)
	in.Store = dog.Store()
	inBackground(t, func(ctx context.Context) {
		if err := dog.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	return in
}

func runInformer(t *testing.T, s *kube.Session) *history.Informer {
	t.Helper()
	in := history.NewInformer(t, s, "client-go's informer", 1)
	store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: in.Session.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       in.Recorders[0],
	})
	in.Store = store
	inBackground(t, controller.RunWithContext)
	return in
}

func TestSideBySide(t *testing.T) {
	s := kubetest.Open(t)
	history.SideBySide(t, s, func() []*history.Informer {
		return []*history.Informer{runWatchDog(t, s), runInformer(t, s)}
	})
}
