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

// stepOwnwrites wants one Secret. It creates one if the cache has none. The cache does not have the
// program's own last write yet.
func stepOwnwrites(ctx context.Context, env *step.Env) error {
	secrets := newSlowWatch(env)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { secrets.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", secrets.HasSyncedChecker()) {
		return ctx.Err()
	}

	secrets.hold() // from now on, the events of the watch are late
	for try := 1; try <= 2; try++ {
		cached := len(secrets.GetStore().List())
		fmt.Fprintf(env.Out, "reconcile %d : the cache has %d\n", try, cached)
		if cached == 0 {
			secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "token-"}}
			_, err := env.Client.CoreV1().Secrets(env.Namespace).Create(ctx, secret, metav1.CreateOptions{})
			if err != nil {
				return err
			}
			fmt.Fprintf(env.Out, "reconcile %d : created one\n", try)
		}
	}
	secrets.release()
	return countSecrets(ctx, env)
}

// countSecrets prints how many Secrets the API server has.
func countSecrets(ctx context.Context, env *step.Env) error {
	list, err := env.Client.CoreV1().Secrets(env.Namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Out, "the API server has %d, 1 was wanted\n", len(list.Items))
	return nil
}
