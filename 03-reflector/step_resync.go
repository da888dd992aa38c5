package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/01-deltafifo/deltafifo"
	"example.com/informer/scripts/harness/step"
)

// stepResync queues the objects of the store again and again. It counts the requests: a resync
// sends none.
func stepResync(ctx context.Context, env *step.Env) error {
	configMaps := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "one"))
	store := cache.NewStore(cache.MetaNamespaceKeyFunc)
	queue := deltafifo.New(deltafifo.Options{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: store,
	})
	ctx, cancel := context.WithCancel(ctx)
	context.AfterFunc(ctx, queue.Close)
	period := 100 * time.Millisecond
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { cache.NewReflector(configMaps, &corev1.ConfigMap{}, queue, period).RunWithContext(ctx) })

	for i := range 4 { // the first list, and three resyncs
		err := queue.Pop(func(deltas cache.Deltas, isInInitialList bool) error {
			for _, delta := range deltas {
				fmt.Fprintf(env.Out, "%s : %s\n", delta.Type, delta.Object.(*corev1.ConfigMap).Name)
				if err := store.Add(delta.Object); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if i == 0 {
			fmt.Fprintln(env.Out, "requests for the first list :", env.Requests)
			env.Requests.Reset()
		}
	}
	fmt.Fprintln(env.Out, "requests since :", env.Requests)
	return nil
}
