package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepVersion is the step ownwrites with a comparison of versions: it keeps the version of its own
// write, and reads the cache when the cache has this version.
func stepVersion(ctx context.Context, env *step.Env) error {
	secrets := newSlowWatch(env)
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { secrets.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", secrets.HasSyncedChecker()) {
		return ctx.Err()
	}

	secrets.hold()
	time.AfterFunc(300*time.Millisecond, secrets.release) // the network is slow
	written := ""                                         // the version of the last write
	for try := 1; try <= 2; try++ {
		if written != "" {
			if err := secrets.WaitForVersion(ctx, written); err != nil {
				return err
			}
		}
		cached := len(secrets.GetStore().List())
		fmt.Fprintf(env.Out, "reconcile %d : the cache has %d\n", try, cached)
		if cached > 0 {
			continue
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{GenerateName: "token-"}}
		created, err := env.Client.CoreV1().Secrets(env.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "reconcile %d : created one\n", try)
		written = created.ResourceVersion
	}
	return countSecrets(ctx, env)
}
