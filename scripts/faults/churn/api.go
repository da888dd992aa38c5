// Creating, changing and deleting an object of either kind.

package churn

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"example.com/informer/scripts/faults/judge"
)

// stamp is the annotation with the writer's own idea of the time.
const stamp = "faults.informer.example.com/at"

type api struct {
	create func(ctx context.Context, name, app, now string) (judge.Written, error)
	patch  func(ctx context.Context, name string, patch []byte) (judge.Written, error)
	remove func(ctx context.Context, name string) (types.UID, error)
}

func meta(name, app, now string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"app": app}, Annotations: map[string]string{stamp: now},
	}
}

func written(o metav1.Object) judge.Written {
	return judge.Written{UID: o.GetUID(), Version: o.GetResourceVersion()}
}

func configMaps(client kubernetes.Interface, namespace string) api {
	all := client.CoreV1().ConfigMaps(namespace)
	return api{
		create: func(ctx context.Context, name, app, now string) (judge.Written, error) {
			o, err := all.Create(ctx, &corev1.ConfigMap{ObjectMeta: meta(name, app, now),
				Data: map[string]string{"made": now}}, metav1.CreateOptions{})
			return written(o), err
		},
		patch: func(ctx context.Context, name string, patch []byte) (judge.Written, error) {
			o, err := all.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return written(o), err
		},
		remove: func(ctx context.Context, name string) (types.UID, error) {
			return remove(ctx, client, "configmaps", namespace, name)
		},
	}
}

func pods(client kubernetes.Interface, namespace string) api {
	all := client.CoreV1().Pods(namespace)
	return api{
		create: func(ctx context.Context, name, app, now string) (judge.Written, error) {
			// Nobody schedules it: it stays as it is.
			o, err := all.Create(ctx, &corev1.Pod{
				ObjectMeta: meta(name, app, now),
				Spec: corev1.PodSpec{
					SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
					Containers:      []corev1.Container{{Name: "idle", Image: "none"}},
				},
			}, metav1.CreateOptions{})
			return written(o), err
		},
		patch: func(ctx context.Context, name string, patch []byte) (judge.Written, error) {
			o, err := all.Patch(ctx, name, types.MergePatchType, patch, metav1.PatchOptions{})
			return written(o), err
		},
		remove: func(ctx context.Context, name string) (types.UID, error) {
			return remove(ctx, client, "pods", namespace, name)
		},
	}
}

// remove deletes an object at once and returns its UID. The answer to a delete
// is the object or a status, depending on the kind; the UID is in both.
func remove(ctx context.Context, client kubernetes.Interface, resource, namespace, name string) (types.UID, error) {
	now := int64(0)
	answer, err := client.CoreV1().RESTClient().Delete().Resource(resource).Namespace(namespace).Name(name).
		Body(&metav1.DeleteOptions{GracePeriodSeconds: &now}).Do(ctx).Get()
	if err != nil {
		return "", err
	}
	if status, ok := answer.(*metav1.Status); ok {
		return status.Details.UID, nil
	}
	return answer.(metav1.Object).GetUID(), nil
}
