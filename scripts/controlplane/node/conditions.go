// The conditions of a pod, worked out from its phase and its containers.

package node

import (
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
	containers := containersReady(pod, status)
	for _, c := range []v1.PodCondition{
		readyToStart(status), initialized(pod, status), ready(pod, conditions, containers), containers,
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

func initialized(pod *v1.Pod, status *v1.PodStatus) v1.PodCondition {
	c := v1.PodCondition{Type: v1.PodInitialized, Status: v1.ConditionTrue}
	switch status.Phase {
	case v1.PodRunning:
	case v1.PodSucceeded:
		c.Reason = "PodCompleted"
	default:
		if names := namesOf(pod.Spec.InitContainers); len(names) > 0 {
			c.Status, c.Reason = v1.ConditionFalse, "ContainersNotInitialized"
			c.Message = fmt.Sprintf("containers with incomplete status: %s", names)
		}
	}
	return c
}

func containersReady(pod *v1.Pod, status *v1.PodStatus) v1.PodCondition {
	c := v1.PodCondition{Type: v1.ContainersReady, Status: v1.ConditionFalse}
	switch status.Phase {
	case v1.PodRunning:
		c.Status = v1.ConditionTrue
	case v1.PodSucceeded:
		c.Reason = "PodCompleted"
	default:
		sidecars := slices.DeleteFunc(slices.Clone(pod.Spec.InitContainers), func(c v1.Container) bool {
			return !sidecar(c)
		})
		c.Reason = "ContainersNotReady"
		c.Message = fmt.Sprintf("containers with unready status: %s", namesOf(append(sidecars, pod.Spec.Containers...)))
	}
	return c
}

// ready is the condition of the containers and of the gates that the pod's
// spec sets up besides.
func ready(pod *v1.Pod, others []v1.PodCondition, containers v1.PodCondition) v1.PodCondition {
	c := containers
	c.Type = v1.PodReady
	if c.Status != v1.ConditionTrue {
		return c
	}
	var closed []string
	for _, gate := range pod.Spec.ReadinessGates {
		i := slices.IndexFunc(others, func(c v1.PodCondition) bool { return c.Type == gate.ConditionType })
		switch {
		case i < 0:
			closed = append(closed, fmt.Sprintf("corresponding condition of pod readiness gate %q does not exist.",
				gate.ConditionType))
		case others[i].Status != v1.ConditionTrue:
			closed = append(closed, fmt.Sprintf("the status of pod readiness gate %q is not \"True\", but %v",
				gate.ConditionType, others[i].Status))
		}
	}
	if len(closed) > 0 {
		c.Status, c.Reason, c.Message = v1.ConditionFalse, "ReadinessGatesNotReady", strings.Join(closed, ", ")
	}
	return c
}

func namesOf(containers []v1.Container) []string {
	var names []string
	for _, c := range containers {
		names = append(names, c.Name)
	}
	return names
}
