// What the steps share: a WatchDog in the background, and the ConfigMaps that
// they change under its eyes.

package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/watchdog"
)

// watch runs a WatchDog of ConfigMaps, all but the cluster's own, until stop
// is called. It returns when the first list has been handled.
func watch(ctx context.Context, s *kube.Session,
	handler cache.ResourceEventHandler) (dog *watchdog.WatchDog, stop func() error, err error) {
	dog, err = watchdog.New(watchdog.Options{
		ListerWatcher: s.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler:       handler,
	})
	if err != nil {
		return nil, nil, err
	}
	stop, err = start(ctx, dog)
	return dog, stop, err
}

// start runs a WatchDog and waits until it has synced. stop ends it and
// returns what Run returned.
func start(ctx context.Context, dog *watchdog.WatchDog) (stop func() error, err error) {
	run, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- dog.Run(run) }()
	stop = func() error { cancel(); return <-ended }
	select {
	case <-dog.Synced():
		return stop, nil
	case <-ctx.Done():
		return nil, errors.Join(ctx.Err(), stop())
	}
}

// names lists what a store holds, sorted: a store has no order.
func names(store watchdog.Reader) string {
	list := []string{}
	for _, obj := range store.List() {
		list = append(list, obj.(metav1.Object).GetName())
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}
