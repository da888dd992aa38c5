package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepFakes runs one function with a fake clientset and with a real one.
func stepFakes(ctx context.Context, env *step.Env) error {
	if err := deleteBetween(ctx, env, "fake", fake.NewClientset()); err != nil {
		return err
	}
	return deleteBetween(ctx, env, "real", env.Client)
}

// deleteBetween deletes a Secret between the informer's list and its watch. Then it creates another
// Secret, and prints the cache.
func deleteBetween(ctx context.Context, env *step.Env, speaker string, client kubernetes.Interface) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	secrets := client.CoreV1().Secrets(env.Namespace)
	create := func(name string) error {
		_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
		return err
	}
	if err := create("before"); err != nil {
		return err
	}
	between := sync.OnceValue(func() error { return secrets.Delete(ctx, "before", metav1.DeleteOptions{}) })
	informer := cache.NewSharedIndexInformer(cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return secrets.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			if err := between(); err != nil {
				return nil, err
			}
			return secrets.Watch(ctx, options)
		},
	}, client), &corev1.Secret{}, 0, cache.Indexers{})

	after := make(chan struct{})
	if _, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
		if obj.(*corev1.Secret).Name == "after" {
			close(after)
		}
	}}); err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { informer.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", informer.HasSyncedChecker()) {
		return ctx.Err()
	}
	if err := create("after"); err != nil {
		return err
	}
	select {
	case <-after: // events come in order: an earlier event that has not come is lost
		keys := slices.Sorted(slices.Values(informer.GetStore().ListKeys()))
		fmt.Fprintf(env.Out, "%s : in the cache : %v\n", speaker, keys)
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
