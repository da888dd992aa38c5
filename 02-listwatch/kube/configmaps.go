// The ConfigMaps that steps make, where a pod's slow life is not the point.

package kube

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
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

// CreateConfigMapWith makes a ConfigMap with one value, and prints the command
// for it.
func (s *Session) CreateConfigMapWith(ctx context.Context, name, key, value string) error {
	s.Printf("# kubectl create configmap %s --from-literal=%s=%s\n", name, key, value)
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{key: value}}
	_, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).
		Create(ctx, configMap, metav1.CreateOptions{FieldManager: "kubectl-create"})
	return err
}

// PatchConfigMap gives one value another content, and prints the command for it.
func (s *Session) PatchConfigMap(ctx context.Context, name, key, value string) error {
	patch := fmt.Sprintf(`{"data":{%q:%q}}`, key, value)
	s.Printf("# kubectl patch configmap %s --patch '%s'\n", name, patch)
	_, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).
		Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: "kubectl-patch"})
	return err
}

// DeleteConfigMap deletes a ConfigMap and prints the command for it.
func (s *Session) DeleteConfigMap(ctx context.Context, name string) error {
	s.Printf("# kubectl delete configmap %s\n", name)
	return s.Clientset.CoreV1().ConfigMaps(s.Namespace).Delete(ctx, name, metav1.DeleteOptions{})
}
