package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepStream starts a reflector twice: with a plain ListWatch, and with a ListWatch that does not
// support streamed lists. The requests are different. The result is the same.
func stepStream(ctx context.Context, env *step.Env) error {
	configMaps := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.Everything())
	for _, listWatch := range []cache.ListerWatcher{configMaps, cannotStream{configMaps}} {
		env.Requests.Reset()
		store := cache.NewStore(cache.MetaNamespaceKeyFunc) // a reflector can fill a plain store as well
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { cache.NewReflector(listWatch, &corev1.ConfigMap{}, store, 0).RunWithContext(ctx) })
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) {
				return len(store.ListKeys()) == 3 && env.Requests.Watching(), nil
			})
		cancel()
		running.Wait()
		if err != nil {
			return fmt.Errorf("waiting for the list: %w", err)
		}
		fmt.Fprintf(env.Out, "%T : requests : %s : objects : %d\n", listWatch, env.Requests, len(store.ListKeys()))
	}
	return nil
}

// cannotStream is a ListWatch that does not support streamed lists.
type cannotStream struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is the method that a reflector calls to find out.
func (cannotStream) IsWatchListSemanticsUnSupported() bool { return true }
