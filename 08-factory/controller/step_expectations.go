package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepExpectations is the step ownwrites with expectations, which the ReplicaSet controller has,
// too: it counts the creates whose events have not come. While it expects events, it does nothing.
// The expected event adds the key again. (The step counts all Secrets, because its namespace has
// none at first. A controller counts its own objects, for each key.)
func stepExpectations(ctx context.Context, env *step.Env) error {
	secrets := newSlowWatch(env)
	var (
		mu       sync.Mutex
		expected = 0 // creates whose events have not come; guarded by mu
	)
	seen := make(chan struct{}, 1)
	registration, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		mu.Lock()
		defer mu.Unlock()
		expected--
		seen <- struct{}{} // a controller would add the key of the owner to its queue
	}})
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { secrets.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) { // until the handler has received the first list
		return ctx.Err()
	}

	reconcile := func(try int) error {
		mu.Lock()
		defer mu.Unlock()
		switch cached := len(secrets.GetStore().List()); {
		case expected > 0:
			fmt.Fprintf(env.Out, "reconcile %d : %d expected, nothing is decided\n", try, expected)
			return nil
		case cached > 0:
			fmt.Fprintf(env.Out, "reconcile %d : the cache has %d\n", try, cached)
			return nil
		}
		expected++ // before the request: the event may come before the answer
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "token-"}}
		_, err := env.Client.CoreV1().Secrets(env.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		if err != nil {
			expected--
			return err
		}
		fmt.Fprintf(env.Out, "reconcile %d : created one\n", try)
		return nil
	}
	secrets.hold()
	for try := 1; try <= 2; try++ {
		if err := reconcile(try); err != nil {
			return err
		}
	}
	secrets.release()
	select {
	case <-seen:
	case <-ctx.Done():
		return ctx.Err()
	}
	if err := reconcile(3); err != nil {
		return err
	}
	return countSecrets(ctx, env)
}
