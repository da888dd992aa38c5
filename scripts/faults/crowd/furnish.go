// What controllers put into every namespace, and a chapter waits for. On this
// control plane there are none.

package main

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// furnish gives every namespace, and each that is made until stop is called, a
// service account and a ConfigMap. stop says whether that went well.
func furnish(ctx context.Context, client kubernetes.Interface) (stop func() error, err error) {
	namespaces, err := client.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, fmt.Errorf("watching for new namespaces: %w", err)
	}
	ended := make(chan error, 1)
	go func() {
		var failed error
		for event := range namespaces.ResultChan() {
			if namespace, ok := event.Object.(*corev1.Namespace); ok && event.Type == watch.Added {
				failed = errors.Join(failed, furnishOne(ctx, client, namespace.Name))
			}
		}
		ended <- failed
	}()
	return func() error { namespaces.Stop(); return <-ended }, nil
}

func furnishOne(ctx context.Context, client kubernetes.Interface, namespace string) error {
	_, noAccount := client.CoreV1().ServiceAccounts(namespace).Create(ctx,
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "default"}}, metav1.CreateOptions{})
	_, noRootCA := client.CoreV1().ConfigMaps(namespace).Create(ctx,
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kube-root-ca.crt"}}, metav1.CreateOptions{})
	for _, err := range []error{noAccount, noRootCA} {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("furnishing namespace %s: %w", namespace, err)
		}
	}
	return nil
}
