// A claim of the book about resync periods of client-go's informer with one handler.

package main

import (
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// A handler of a shared informer gets a resync once a second at most. This one gets more.
func TestClientGosInformerHasNoShortestResyncPeriod(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		resyncs := make(chan time.Time, 10_000)
		_, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: fakeapi.New(configMap("a", "1")),
			ObjectType:    &corev1.ConfigMap{},
			Handler: cache.ResourceEventHandlerFuncs{
				UpdateFunc: func(any, any) { resyncs <- time.Now() },
			},
			ResyncPeriod: time.Millisecond,
		})
		must.Run(t, controller.RunWithContext)
		first, second := <-resyncs, <-resyncs
		if pause := second.Sub(first); pause != time.Millisecond {
			t.Errorf("%v between two resyncs, want %v", pause, time.Millisecond)
		}
	})
}
