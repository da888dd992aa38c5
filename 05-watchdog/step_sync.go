package main

import (
	"context"
	"errors"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/step"
)

// stepSync waits until the store is complete and the handler has returned. Then it reads from the
// store a thousand times, and no request reaches the server. (Every namespace has kube-root-ca.crt.)
func stepSync(ctx context.Context, env *step.Env) error {
	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: cache.NewListWatchFromClient(
			env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace, fields.Everything()),
		ObjectType: &corev1.ConfigMap{},
		Handler: cache.ResourceEventHandlerFuncs{AddFunc: func(obj any) {
			fmt.Fprintln(env.Out, "Add :", obj.(*corev1.ConfigMap).Name)
		}},
	})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "HasSynced : %t, in the store : %d\n", dog.HasSynced(), len(dog.Store().List()))

	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { _ = dog.Run(ctx) }) // its only error: a call that does not return
	select {
	case <-dog.Synced():
	case <-ctx.Done():
		return ctx.Err()
	}
	fmt.Fprintf(env.Out, "HasSynced : %t, in the store : %d\n", dog.HasSynced(), len(dog.Store().List()))

	env.Requests.Reset() // env.Requests counts the requests of this step
	for range 1000 {
		if _, exists, err := dog.Store().GetByKey(env.Namespace + "/two"); err != nil || !exists {
			return errors.Join(err, errors.New("two is not in the store"))
		}
	}
	fmt.Fprintln(env.Out, "1000 reads, requests to the server :", env.Requests)
	return nil
}
