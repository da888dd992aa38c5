package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step"
)

// stepLost lets client-go's reflector fill the queue of chapter 01, without known objects. The
// Deleted of doomed never comes: doomed was popped, and then the queue does not know it any more.
// (Every namespace has the ConfigMap kube-root-ca.crt.)
func stepLost(ctx context.Context, env *step.Env) error {
	configMaps := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.Everything())
	queue := deltafifo.New(deltafifo.Options{
		KeyFunction: cache.MetaNamespaceKeyFunc, // and no KnownObjects
	})
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, queue.Close)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { cache.NewReflector(configMaps, &corev1.ConfigMap{}, queue, 0).RunWithContext(ctx) })

	for {
		err := queue.Pop(func(deltas cache.Deltas, isInInitialList bool) error {
			for _, delta := range deltas {
				fmt.Fprintf(env.Out, "%s : %s\n", delta.Type, delta.Object.(*corev1.ConfigMap).Name)
			}
			return nil
		})
		if errors.Is(err, cache.ErrFIFOClosed) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
