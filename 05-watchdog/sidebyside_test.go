// The WatchDog and client-go's informer, side by side on the same cluster, through thousands of
// changes and many broken connections.

package main

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
	"example.com/informer/scripts/harness/session/sessiontest"
)

func TestSideBySide(t *testing.T) {
	s := sessiontest.Open(t)
	record.SideBySide(t, s, func() []*record.Informer {
		ours := record.NewInformer(t, s, "WatchDog", 1)
		dog, err := watchdog.New(watchdog.Options{
			ListerWatcher: ours.ConfigMaps,
			ObjectType:    &corev1.ConfigMap{},
			Handler:       ours.Recorders[0],
			OnError:       func(err error) { t.Log(err) },
		})
		must.NoError(t, err)
		ours.Store = dog.Store()
		must.Run(t, func(ctx context.Context) {
			if err := dog.Run(ctx); err != nil {
				t.Errorf("Run() = %v, want nil", err)
			}
		})

		theirs := record.NewInformer(t, s, "client-go's informer", 1)
		store, controller := cache.NewInformerWithOptions(cache.InformerOptions{
			ListerWatcher: theirs.ConfigMaps, ObjectType: &corev1.ConfigMap{}, Handler: theirs.Recorders[0],
		})
		theirs.Store = store
		must.Run(t, controller.RunWithContext)
		return []*record.Informer{ours, theirs}
	})
}
