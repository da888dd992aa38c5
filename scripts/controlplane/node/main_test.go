// What the tests of the node share: pods to put on it, and a check that no goroutine is left.

package node

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const nodeName = "informer-control-plane"

// boundPod is a pod as it is when the scheduler has just put it on the node.
func boundPod(name string, images ...string) *v1.Pod {
	pod := &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, UID: types.UID("uid-" + name), Generation: 1},
		Spec:       v1.PodSpec{NodeName: nodeName},
		Status: v1.PodStatus{
			Phase:      v1.PodPending,
			QOSClass:   v1.PodQOSBestEffort,
			Conditions: []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue}},
		},
	}
	for i, image := range images {
		pod.Spec.Containers = append(pod.Spec.Containers, v1.Container{Name: string(rune('a' + i)), Image: image})
	}
	return pod
}

// at gives the pod a status, as the API server would.
func at(pod *v1.Pod, status v1.PodStatus) *v1.Pod {
	pod = pod.DeepCopy()
	pod.Status = status
	return pod
}

// deleted is the pod after someone has asked to delete it.
func deleted(pod *v1.Pod) *v1.Pod {
	pod = pod.DeepCopy()
	now := metav1.Now()
	pod.DeletionTimestamp = &now
	pod.DeletionGracePeriodSeconds = new(int64(30))
	pod.Generation++
	return pod
}

func condition(status v1.PodStatus, kind v1.PodConditionType) v1.PodCondition {
	for _, c := range status.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return v1.PodCondition{}
}
