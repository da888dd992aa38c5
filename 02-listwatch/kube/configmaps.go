// The ConfigMaps that steps make, where a pod's slow life is not the point.

package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"
)

// rootCA is the ConfigMap that the cluster puts into every namespace.
const rootCA = "kube-root-ca.crt"

// ConfigMaps lists and watches all ConfigMaps of the session's namespace.
func (s *Session) ConfigMaps() *cache.ListWatch {
	return s.configMaps(fields.Everything())
}

// OwnConfigMaps leaves out the one that the cluster put there.
func (s *Session) OwnConfigMaps() *cache.ListWatch {
	return s.configMaps(fields.OneTermNotEqualSelector("metadata.name", rootCA))
}

func (s *Session) configMaps(selector fields.Selector) *cache.ListWatch {
	return cache.NewListWatchFromClient(s.Clientset.CoreV1().RESTClient(), "configmaps", s.Namespace, selector)
}

// CreateConfigMap makes an empty ConfigMap and prints the command for it.
func (s *Session) CreateConfigMap(ctx context.Context, name string) (*corev1.ConfigMap, error) {
	s.Printf("# kubectl create configmap %s\n", name)
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}}
	return s.Clientset.CoreV1().ConfigMaps(s.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
}

// DeleteConfigMap deletes a ConfigMap and prints the command for it.
func (s *Session) DeleteConfigMap(ctx context.Context, name string) error {
	s.Printf("# kubectl delete configmap %s\n", name)
	return s.Clientset.CoreV1().ConfigMaps(s.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
}
