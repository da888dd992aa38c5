// The conditions of a pod, worked out from its phase and its containers.

package node

import (
	"slices"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kubelet "k8s.io/kubernetes/pkg/kubelet/status"
)

// ours says whether a condition is the node's to set; others are left alone.
func ours(kind v1.PodConditionType) bool {
	switch kind {
	case v1.PodReadyToStartContainers, v1.PodInitialized, v1.PodReady, v1.ContainersReady, v1.PodScheduled:
		return true
	}
	return false
}

// setConditions brings the node's conditions of a status up to date with the
// rest of it. A condition whose status stays keeps the time since when it holds.
func setConditions(pod *v1.Pod, status *v1.PodStatus, now metav1.Time) {
	conditions := slices.DeleteFunc(slices.Clone(status.Conditions), func(c v1.PodCondition) bool {
		return ours(c.Type)
	})
	old, containers := &pod.Status, append(slices.Clone(status.InitContainerStatuses), status.ContainerStatuses...)
	for _, c := range []v1.PodCondition{
		readyToStart(status),
		kubelet.GeneratePodInitializedCondition(pod, old, containers, status.Phase),
		kubelet.GeneratePodReadyCondition(pod, old, conditions, containers, status.Phase),
		kubelet.GenerateContainersReadyCondition(pod, old, containers, status.Phase),
		{Type: v1.PodScheduled, Status: v1.ConditionTrue},
	} {
		c.ObservedGeneration = pod.Generation
		c.LastTransitionTime = now
		for _, before := range pod.Status.Conditions {
			if before.Type == c.Type && before.Status == c.Status {
				c.LastTransitionTime = before.LastTransitionTime
			}
		}
		conditions = append(conditions, c)
	}
	status.Conditions = conditions
}

func readyToStart(status *v1.PodStatus) v1.PodCondition {
	c := v1.PodCondition{Type: v1.PodReadyToStartContainers, Status: v1.ConditionFalse, Reason: "PodSandboxNotReady"}
	switch status.Phase {
	case v1.PodRunning:
		c.Status, c.Reason = v1.ConditionTrue, ""
	case v1.PodSucceeded:
		c.Message = "pod sandbox is not ready"
	default:
		c.Message = "no pod sandbox exists"
	}
	return c
}
