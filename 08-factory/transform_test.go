// What the transform of the step options leaves in the store.

package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"example.com/informer/scripts/harness/must"
)

// The factory gives it objects of every type, and a program may read every field of them.
func TestTheTransformDropsManagedFieldsOnly(t *testing.T) {
	metadata := metav1.ObjectMeta{
		Name: "web", GenerateName: "we", Namespace: "ns", UID: "u1", ResourceVersion: "7", Generation: 3,
		CreationTimestamp: metav1.NewTime(time.Unix(1, 0)), DeletionTimestamp: new(metav1.NewTime(time.Unix(2, 0))),
		DeletionGracePeriodSeconds: new(int64(30)),
		Labels:                     map[string]string{"app": "web"},
		Annotations:                map[string]string{corev1.LastAppliedConfigAnnotation: "{}", "owner": "shop"},
		OwnerReferences:            []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "web", UID: "u0"}},
		Finalizers:                 []string{"example.com/wait"},
	}
	for _, want := range []runtime.Object{
		&corev1.Pod{ObjectMeta: metadata,
			Spec:   corev1.PodSpec{NodeName: "n1", Containers: []corev1.Container{{Name: "c"}}},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, PodIP: "10.0.0.1"}},
		&corev1.ConfigMap{ObjectMeta: metadata, Data: map[string]string{"key": "value"}},
	} {
		managed := want.DeepCopyObject()
		managed.(metav1.Object).SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: "kubectl"}})
		got, err := withoutManagedFields(managed)
		must.NoError(t, err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("a %T (-want +got):\n%s", want, diff)
		}
	}
}
