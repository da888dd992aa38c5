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

// stepStream starts a reflector twice: once as it is, once over a ListWatch that
// says it cannot stream. The requests differ, the result does not.
func stepStream(ctx context.Context, l *step.Lesson) error {
	configMaps := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		fields.Everything())
	for _, listWatch := range []cache.ListerWatcher{configMaps, cannotStream{configMaps}} {
		l.Requests.Reset()
		store := cache.NewStore(cache.MetaNamespaceKeyFunc) // a reflector can fill a plain store as well
		ctx, cancel := context.WithCancel(ctx)
		var running sync.WaitGroup
		running.Go(func() { cache.NewReflector(listWatch, &corev1.ConfigMap{}, store, 0).RunWithContext(ctx) })
		err := wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, time.Minute, true,
			func(context.Context) (bool, error) {
				return len(store.ListKeys()) == 3 && l.Requests.Watching(), nil
			})
		cancel()
		running.Wait()
		if err != nil {
			return fmt.Errorf("waiting for the list: %w", err)
		}
		fmt.Fprintf(l.Out, "%T : requests : %s : objects : %d\n", listWatch, l.Requests, len(store.ListKeys()))
	}
	return nil
}

// cannotStream is a ListWatch that has nothing but LIST and WATCH to offer.
type cannotStream struct{ *cache.ListWatch }

// IsWatchListSemanticsUnSupported is how a reflector asks.
func (cannotStream) IsWatchListSemanticsUnSupported() bool { return true }
