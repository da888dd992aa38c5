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

// stepRelist cuts the connection of the reflector for a while. An object is missing in the next
// list. So the queue knows that the object was deleted.
func stepRelist(ctx context.Context, env *step.Env) error {
	client, cable, err := env.DisconnectableClient(ctx)
	if err != nil {
		return err
	}
	env.On("the cable is pulled out", cable.Pull)
	env.On("the cable is plugged in", cable.Restore)
	configMaps := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")) // which every namespace has
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc) // takes tombstones, too
	queue := deltafifo.New(deltafifo.Options{
		KeyFunction:  cache.MetaNamespaceKeyFunc,
		KnownObjects: store,
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
				obj, note := delta.Object, ""
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj, note = tombstone.Obj, " (a tombstone)"
				}
				configMap, ok := obj.(*corev1.ConfigMap)
				if !ok { // a tombstone may be empty
					return fmt.Errorf("want a ConfigMap, got %T", obj)
				}
				fmt.Fprintf(env.Out, "%s : %s%s\n", delta.Type, configMap.Name, note)
				write := store.Add
				if delta.Type == cache.Deleted {
					write = store.Delete
				}
				if err := write(delta.Object); err != nil {
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
