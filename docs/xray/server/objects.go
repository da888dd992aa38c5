// The objects that the buttons change.

package server

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Objects changes the objects of one type in one namespace.
type Objects struct {
	Create func(ctx context.Context, name string, labels map[string]string) error
	Patch  func(ctx context.Context, name string, mergePatch []byte) error
	Delete func(ctx context.Context, name string) error // without a grace period
}

// ConfigMaps returns the ConfigMaps of a namespace.
func ConfigMaps(client kubernetes.Interface, namespace string) Objects {
	return newObjects(client.CoreV1().ConfigMaps(namespace), func(metadata metav1.ObjectMeta) *corev1.ConfigMap {
		return &corev1.ConfigMap{ObjectMeta: metadata}
	})
}

// Pods returns the pods of a namespace.
func Pods(client kubernetes.Interface, namespace string) Objects {
	return newObjects(client.CoreV1().Pods(namespace), func(metadata metav1.ObjectMeta) *corev1.Pod {
		return &corev1.Pod{ObjectMeta: metadata, Spec: corev1.PodSpec{
			Containers:                    []corev1.Container{{Name: "pause", Image: "registry.k8s.io/pause:3.10.2"}},
			TerminationGracePeriodSeconds: new(int64(0)),
		}}
	})
}

// A typedClient is a client of a clientset for one type.
type typedClient[T any] interface {
	Create(context.Context, T, metav1.CreateOptions) (T, error)
	Patch(context.Context, string, types.PatchType, []byte, metav1.PatchOptions, ...string) (T, error)
	Delete(context.Context, string, metav1.DeleteOptions) error
}

// newObjects returns the objects of a client. newObject makes an object to create.
func newObjects[T any](c typedClient[T], newObject func(metav1.ObjectMeta) T) Objects {
	return Objects{
		Create: func(ctx context.Context, name string, labels map[string]string) error {
			_, err := c.Create(ctx, newObject(metav1.ObjectMeta{Name: name, Labels: labels}), metav1.CreateOptions{})
			return err
		},
		Patch: func(ctx context.Context, name string, mergePatch []byte) error {
			_, err := c.Patch(ctx, name, types.MergePatchType, mergePatch, metav1.PatchOptions{})
			return err
		},
		Delete: func(ctx context.Context, name string) error {
			return c.Delete(ctx, name, metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))})
		},
	}
}
