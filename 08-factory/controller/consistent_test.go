// A client of controller-runtime that waits for its own writes.

package main

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/ptr"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step"
)

// With EnableReadYourWritesConsistency, a read waits until the cache has the earlier writes of the
// same client, and only for these.
func TestAConsistentClientWaitsForItsOwnWrites(t *testing.T) {
	s := sessiontest.Open(t)
	secrets := newSlowWatch(&step.Env{Client: s.Client, Namespace: s.Namespace})
	informers, err := ctrlcache.New(s.Config, ctrlcache.Options{
		DefaultNamespaces: map[string]ctrlcache.Config{s.Namespace: {}},
		NewInformer: func(_ cache.ListerWatcher, _ runtime.Object, _ time.Duration, indexers cache.Indexers,
		) cache.SharedIndexInformer {
			if err := secrets.AddIndexers(indexers); err != nil {
				t.Errorf("AddIndexers() = %v, want nil", err)
			}
			return secrets
		},
	})
	must.NoError(t, err)
	c, err := client.New(s.Config, client.Options{Cache: &client.CacheOptions{
		Reader:                          informers,
		EnableReadYourWritesConsistency: ptr.To(true),
	}})
	must.NoError(t, err)
	must.Run(t, func(ctx context.Context) { _ = informers.Start(ctx) }) // its only error is the end of ctx
	var list corev1.SecretList
	must.NoError(t, c.List(t.Context(), &list)) // the first read makes the informer, and waits until it has synced

	secrets.hold()
	ended, end := context.WithCancel(t.Context())
	end()
	wantItems := func(ctx context.Context, want int) {
		t.Helper()
		if err := c.List(ctx, &list); err != nil || len(list.Items) != want {
			t.Errorf("List() has %d items and the error %v, want %d and nil", len(list.Items), err, want)
		}
	}
	_, err = s.Client.CoreV1().Secrets(s.Namespace).Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "of-another-client"}}, metav1.CreateOptions{})
	must.NoError(t, err)
	wantItems(ended, 0) // it does not wait, or it would return the error of its context

	must.NoError(t, c.Create(t.Context(),
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: "its-own"}}))
	if err := c.List(ended, &list); !errors.Is(err, context.Canceled) {
		t.Errorf("List() = %v, want %v: the cache does not have the write yet", err, context.Canceled)
	}
	secrets.release()
	wantItems(t.Context(), 2)
}
