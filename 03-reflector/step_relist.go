package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/step"
)

// stepRelist cuts the reflector off from the server for a while. The next list
// lacks an object, and the queue concludes that it must have been deleted.
func stepRelist(ctx context.Context, l *step.Lesson) error {
	proxy, err := netfault.For(l.Config)
	if err != nil {
		return err
	}
	defer proxy.Close()
	config := rest.CopyConfig(l.Config)
	config.Dial = proxy.Dial // all bytes of this client go through the proxy
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	l.On("the cable is pulled out", proxy.Pull)
	l.On("the cable is plugged in", func() {
		// Not before the reflector has failed to reach the server: then it has to list.
		wait.PollUntilContextTimeout(ctx, 10*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) { return proxy.DialFailed(), nil })
		proxy.Restore()
	})

	configMaps := cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")) // which every namespace has
	store := cache.NewStore(cache.DeletionHandlingMetaNamespaceKeyFunc) // takes tombstones, too
	queue := cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{
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
		_, err := queue.Pop(func(popped any, isInInitialList bool) error {
			for _, delta := range popped.(cache.Deltas) {
				obj, note := delta.Object, ""
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj, note = tombstone.Obj, " (a tombstone)"
				}
				fmt.Fprintf(l.Out, "%s : %s%s\n", delta.Type, obj.(*corev1.ConfigMap).Name, note)
				if delta.Type == cache.Deleted {
					store.Delete(delta.Object)
				} else {
					store.Add(delta.Object)
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
