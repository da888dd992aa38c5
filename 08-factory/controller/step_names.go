package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepNames is the step ownwrites with a fixed name for the Secret. The API server refuses the
// second Secret.
func stepNames(ctx context.Context, env *step.Env) error {
	secrets := newSlowWatch(env)
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	running.Go(func() { secrets.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", secrets.HasSyncedChecker()) {
		return ctx.Err()
	}

	secrets.hold()
	for try := 1; try <= 2; try++ {
		if _, exists, _ := secrets.GetStore().GetByKey(env.Namespace + "/token"); exists {
			continue
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "token"}} // derived from the owner's name
		_, err := env.Client.CoreV1().Secrets(env.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		switch {
		case apierrors.IsAlreadyExists(err):
			// A controller now gets the Secret from the API server: its owner reference says whose
			// it is.
			fmt.Fprintf(env.Out, "reconcile %d : %v\n", try, err)
		case err != nil:
			return err
		default:
			fmt.Fprintf(env.Out, "reconcile %d : created one\n", try)
		}
	}
	secrets.release()
	return countSecrets(ctx, env)
}
