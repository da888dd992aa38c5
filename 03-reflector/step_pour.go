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

// stepPour gives the queue known objects: a store. The objects of the first list are popped as
// Sync. The changes of the watch are popped as Added, Updated and Deleted. (The pod in early.yaml
// has a scheduling gate: it stays Pending.)
func stepPour(ctx context.Context, env *step.Env) error {
	pods := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "pods", env.Namespace, fields.Everything())
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	queue := deltafifo.New(deltafifo.Options{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: store, // where the loop below keeps what it pops
	})
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, queue.Close)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { cache.NewReflector(pods, &corev1.Pod{}, queue, 0).RunWithContext(ctx) })

	for {
		err := queue.Pop(func(deltas cache.Deltas, isInInitialList bool) error {
			for _, delta := range deltas {
				pod, ok := delta.Object.(*corev1.Pod)
				if !ok { // it can be a tombstone: see the step relist
					return fmt.Errorf("want a pod, got %T", delta.Object)
				}
				fmt.Fprintf(env.Out, "%s : %s : %s\n", delta.Type, pod.Name, pod.Status.Phase)
				write := store.Add
				if delta.Type == cache.Deleted {
					write = store.Delete
				}
				if err := write(pod); err != nil {
					return err
				}
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
