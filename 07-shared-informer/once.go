package main

import (
	"context"
	"errors"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/07-shared-informer/informer"
)

// once has three handlers listen: each to an informer of its own, and all to
// one that they share.
func once(ctx context.Context, s *kube.Session) error {
	if err := s.CreateConfigMapWith(ctx, "weather", "sky", "blue"); err != nil {
		return err
	}
	theirs := func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return cache.NewSharedIndexInformerWithOptions(lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	}
	ours := func(lw cache.ListerWatcher) cache.SharedIndexInformer {
		return informer.New(lw, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	}
	if err := ask(ctx, s, "three informers of client-go's", theirs, 3, 1); err != nil {
		return err
	}
	return ask(ctx, s, "one informer, three handlers", ours, 1, 3)
}

// ask runs informers until all handlers have heard the first list, and prints
// what the server was asked for that.
func ask(ctx context.Context, s *kube.Session, title string,
	newInformer func(cache.ListerWatcher) cache.SharedIndexInformer, informers, handlers int) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	var told atomic.Int32
	for range informers {
		informer := newInformer(counted.OwnConfigMaps())
		var synced []cache.DoneChecker
		for range handlers {
			registration, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
				told.Add(1)
			}})
			if err != nil {
				return err
			}
			synced = append(synced, registration.HasSyncedChecker())
		}
		stop, err := start(ctx, informer)
		if err != nil {
			return err
		}
		defer stop()
		if !cache.WaitFor(ctx, "", synced...) {
			return errors.Join(errors.New("not all handlers have synced"), ctx.Err())
		}
	}
	s.Printf("%s : %d calls; requests : %s\n", title, told.Load(), &asked)
	return nil
}
