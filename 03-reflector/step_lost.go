package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepLost lets a reflector fill a queue without known objects. The Deleted of doomed never comes:
// doomed was popped, and then the queue does not know it any more. (Every namespace has the
// ConfigMap kube-root-ca.crt.)
func stepLost(ctx context.Context, l *step.Lesson) error {
	configMaps := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		fields.Everything())
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
		KeyFunction: cache.MetaNamespaceKeyFunc, // and no KnownObjects
	})
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, queue.Close)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { cache.NewReflector(configMaps, &corev1.ConfigMap{}, queue, 0).RunWithContext(ctx) })

	for {
		_, err := queue.Pop(func(obj any, isInInitialList bool) error {
			for _, delta := range obj.(cache.Deltas) {
				fmt.Fprintf(l.Out, "%s : %s\n", delta.Type, delta.Object.(*corev1.ConfigMap).Name)
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
