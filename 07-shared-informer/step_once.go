package main

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepOnce counts the requests for three handlers: first with a client-go informer for each of
// them, then with one informer of ours that they share.
func stepOnce(ctx context.Context, env *step.Env) error {
	weather := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	newTheirs := func() cache.SharedIndexInformer {
		return cache.NewSharedIndexInformerWithOptions(weather, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	}
	ours := informer.New(weather, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	for _, informers := range [][]cache.SharedIndexInformer{{newTheirs(), newTheirs(), newTheirs()}, {ours}} {
		env.Requests.Reset()
		var calls atomic.Int32
		var synced []cache.DoneChecker
		for i := range 3 { // handlers
			registration, err := informers[i%len(informers)].AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc: func(any) { calls.Add(1) },
			})
			if err != nil {
				return err
			}
			synced = append(synced, registration.HasSyncedChecker())
		}
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		for _, shared := range informers {
			running.Go(func() { shared.RunWithContext(ctx) })
		}
		done := cache.WaitFor(ctx, "", synced...)
		requests := env.Requests.String()
		cancel()
		running.Wait()
		if !done {
			return ctx.Err()
		}
		fmt.Fprintf(env.Out, "informers : %d, handlers : 3, calls : %d, requests : %s\n",
			len(informers), calls.Load(), requests)
	}
	return nil
}
