package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/informer/scripts/harness/step"
)

// stepConsistent is the step ownwrites with a client of controller-runtime that waits by itself: a
// read waits until the cache has the earlier writes of the same client.
func stepConsistent(ctx context.Context, l *step.Lesson) error {
	secrets := newSlowWatch(l)
	informers, err := ctrlcache.New(l.Config, ctrlcache.Options{
		DefaultNamespaces: map[string]ctrlcache.Config{l.Namespace: {}},
		NewInformer: func(_ cache.ListerWatcher, _ runtime.Object, _ time.Duration, indexers cache.Indexers,
		) cache.SharedIndexInformer {
			if err := secrets.AddIndexers(indexers); err != nil {
				panic(err)
			}
			return secrets
		},
	})
	if err != nil {
		return err
	}
	c, err := client.New(l.Config, client.Options{Cache: &client.CacheOptions{
		Reader:                          informers,
		EnableReadYourWritesConsistency: ptr.To(true),
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = informers.Start(ctx) }) // its only error is the end of ctx
	var list corev1.SecretList
	if err := c.List(ctx, &list); err != nil { // the first read makes the informer, and waits until it has synced
		return err
	}

	secrets.hold()
	time.AfterFunc(300*time.Millisecond, secrets.release) // the network is slow
	for try := 1; try <= 2; try++ {
		if err := c.List(ctx, &list); err != nil {
			return err
		}
		fmt.Fprintf(l.Out, "reconcile %d : the cache has %d\n", try, len(list.Items))
		if len(list.Items) > 0 {
			continue
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: l.Namespace, GenerateName: "token-"}}
		if err := c.Create(ctx, secret); err != nil {
			return err
		}
		fmt.Fprintf(l.Out, "reconcile %d : created one\n", try)
	}
	return countSecrets(ctx, l)
}
