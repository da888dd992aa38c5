// The objects that the steps make and change.

package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"example.com/informer/02-listwatch/kube"
)

// create makes a ConfigMap with one value, and prints the command for it.
func create(ctx context.Context, s *kube.Session, name, value string) error {
	s.Printf("# kubectl create configmap %s --from-literal=sky=%s\n", name, value)
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"sky": value}}
	_, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
	return err
}

// change gives that value another content, and prints the command for it.
func change(ctx context.Context, s *kube.Session, name, value string) error {
	patch := fmt.Sprintf(`{"data":{"sky":"%s"}}`, value)
	s.Printf("# kubectl patch configmap %s --patch '%s'\n", name, patch)
	_, err := s.Clientset.CoreV1().ConfigMaps(s.Namespace).
		Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// createPod makes a pod that no scheduler takes, with a label app, and prints a
// command for it.
func createPod(ctx context.Context, s *kube.Session, name, app string) error {
	s.Printf("# kubectl create -f %s.yaml, a pod that no scheduler takes, with app=%s\n", name, app)
	pod := kube.GatedPod(name)
	pod.Labels = map[string]string{"app": app}
	_, err := s.Clientset.CoreV1().Pods(s.Namespace).Create(ctx, pod, metav1.CreateOptions{})
	return err
}

// labelPod gives a pod another label app, and prints the command for it.
func labelPod(ctx context.Context, s *kube.Session, name, app string) error {
	s.Printf("# kubectl label --overwrite pod %s app=%s\n", name, app)
	patch := fmt.Sprintf(`{"metadata":{"labels":{"app":"%s"}}}`, app)
	_, err := s.Clientset.CoreV1().Pods(s.Namespace).
		Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}
