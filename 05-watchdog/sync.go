package main

import (
	"context"
	"errors"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/05-watchdog/watchdog"
)

// reading waits until the store is complete, and then reads from it as often
// as it likes: the server never hears of it.
func reading(ctx context.Context, s *kube.Session) (err error) {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	for _, name := range []string{"one", "two", "three"} {
		if err := s.CreateConfigMapWith(ctx, name, "sky", "blue"); err != nil {
			return err
		}
	}
	var first atomic.Int32
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: counted.OwnConfigMaps(),
		ObjectType:    &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerDetailedFuncs{AddFunc: func(_ any, isInInitialList bool) {
			if isInInitialList {
				first.Add(1)
			}
		}},
	})
	if err != nil {
		return err
	}
	s.Printf("HasSynced : %t, the store holds : %d\n", dog.HasSynced(), len(dog.Store().List()))
	stop, err := start(ctx, dog)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	s.Printf("HasSynced : %t, the store holds : %s\n", dog.HasSynced(), names(dog.Store()))
	s.Printf("handled by then, as part of the first list : %d\n", first.Load())

	asked.Reset()
	for range 1000 {
		if _, exists, err := dog.Store().GetByKey(s.Namespace + "/two"); err != nil || !exists {
			return errors.Join(err, errors.New("two is not in the store"))
		}
	}
	s.Printf("1000 reads, requests to the server : %s\n", &asked)
	return nil
}
