package main

import (
	"context"
	"fmt"
	"sync"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/step"
)

// stepDenied lists as the service account reader, which has no permission to list. The reflector
// does not give up: after each error, it calls the error handler and waits a little longer. It
// lists as soon as a role permits it.
func stepDenied(ctx context.Context, l *step.Lesson) error {
	token, err := l.Client.CoreV1().ServiceAccounts(l.Namespace).CreateToken(ctx, "reader",
		&authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	config := rest.AnonymousClientConfig(l.Config)
	config.BearerToken = token.Status.Token
	reader, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}

	var once sync.Once                     // the error is the same each time
	controller := cache.New(&cache.Config{ // a reflector, and a loop that pops
		Queue: cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{}),
		ListerWatcher: cache.NewListWatchFromClient(reader.CoreV1().RESTClient(), "configmaps", l.Namespace,
			fields.OneTermEqualSelector("metadata.name", "one")), // not kube-root-ca.crt
		ObjectType: &corev1.ConfigMap{},
		Process: func(obj any, isInInitialList bool) error {
			for _, delta := range obj.(cache.Deltas) {
				fmt.Fprintf(l.Out, "%s : %s\n", delta.Type, delta.Object.(*corev1.ConfigMap).Name)
			}
			return nil
		},
		WatchErrorHandlerWithContext: func(_ context.Context, _ *cache.Reflector, err error) {
			once.Do(func() {
				fmt.Fprintln(l.Out, "the watch error handler gets :", apierrors.ReasonForError(err))
			})
		},
	})
	controller.RunWithContext(ctx)
	return nil
}
