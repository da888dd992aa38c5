// The ConfigMaps that several steps make, and how they are listed and watched.

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
)

// configMaps lists and watches the ConfigMaps of the session's namespace.
func configMaps(s *kube.Session) *cache.ListWatch {
	return cache.NewListWatchFromClient(s.Clientset.CoreV1().RESTClient(), "configmaps", s.Namespace, fields.Everything())
}

// createConfigMap makes an empty ConfigMap and prints the command for it.
func createConfigMap(ctx context.Context, s *kube.Session, name string) (*corev1.ConfigMap, error) {
	s.Printf("# kubectl create configmap %s\n", name)
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return s.Clientset.CoreV1().ConfigMaps(s.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
}

// next returns the next event of a watch; an ERROR event becomes an error.
func next(ctx context.Context, watcher apiwatch.Interface) (apiwatch.Event, error) {
	select {
	case event, ok := <-watcher.ResultChan():
		if !ok {
			return event, fmt.Errorf("the server ended the watch early")
		}
		if event.Type == apiwatch.Error {
			return event, statusError(event)
		}
		return event, nil
	case <-ctx.Done():
		return apiwatch.Event{}, ctx.Err()
	}
}
