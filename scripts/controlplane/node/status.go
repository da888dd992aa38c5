// The status of a pod at each stage of its life, as a kubelet would report it.

package node

import (
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

// creatingStatus is that of a pod just accepted: its containers wait.
func creatingStatus(pod *v1.Pod, now metav1.Time) v1.PodStatus {
	status := baseStatus(pod)
	status.Phase = v1.PodPending
	status.StartTime = &now
	status.InitContainerStatuses = each(pod.Spec.InitContainers, func(c v1.Container) v1.ContainerStatus {
		return waitingContainer(pod, c)
	})
	status.ContainerStatuses = sorted(pod.Spec.Containers, func(c v1.Container) v1.ContainerStatus {
		return waitingContainer(pod, c)
	})
	setConditions(pod, &status, now)
	return status
}

// runningStatus is that of a pod whose containers run, at the given address.
// Of a pod that has it already it changes only what the pod's spec demands: a
// container with a new image starts anew, one that was added starts.
func runningStatus(pod *v1.Pod, ip string, now metav1.Time) v1.PodStatus {
	status := baseStatus(pod)
	status.Phase = v1.PodRunning
	if status.StartTime == nil {
		status.StartTime = &now
	}
	status.PodIP = ip
	status.PodIPs = []v1.PodIP{{IP: ip}}
	setContainers(pod, &status, true, now)
	setConditions(pod, &status, now)
	return status
}

// observedStatus says of the status that the pod has that it takes the latest
// change of the pod's spec into account: the request to delete it.
func observedStatus(pod *v1.Pod) v1.PodStatus {
	status := baseStatus(pod)
	for i := range status.Conditions {
		if ours(status.Conditions[i].Type) {
			status.Conditions[i].ObservedGeneration = pod.Generation
		}
	}
	return status
}

// stoppedStatus is that of a pod whose containers have ended when they were stopped.
func stoppedStatus(pod *v1.Pod, now metav1.Time) v1.PodStatus {
	status := baseStatus(pod)
	status.Phase = v1.PodSucceeded
	if status.StartTime == nil {
		status.StartTime = &now
	}
	setContainers(pod, &status, false, now)
	setConditions(pod, &status, now)
	return status
}

// setContainers gives a status to the containers of a pod that runs or has run.
// An init container has done its work by then, unless it goes on beside the others.
func setContainers(pod *v1.Pod, status *v1.PodStatus, runs bool, now metav1.Time) {
	set := func(c v1.Container, before []v1.ContainerStatus, runs bool) v1.ContainerStatus {
		if runs {
			return runningContainer(pod, c, before, now)
		}
		return completedContainer(pod, c, before, now)
	}
	status.InitContainerStatuses = each(pod.Spec.InitContainers, func(c v1.Container) v1.ContainerStatus {
		return set(c, pod.Status.InitContainerStatuses, runs && podutil.IsRestartableInitContainer(&c))
	})
	status.ContainerStatuses = sorted(pod.Spec.Containers, func(c v1.Container) v1.ContainerStatus {
		return set(c, pod.Status.ContainerStatuses, runs)
	})
	status.EphemeralContainerStatuses = sorted(pod.Spec.EphemeralContainers,
		func(c v1.EphemeralContainer) v1.ContainerStatus {
			before := pod.Status.EphemeralContainerStatuses
			return unprobed(set(v1.Container(c.EphemeralContainerCommon), before, runs))
		})
}

// baseStatus is the status that the pod has, brought up to date in what does
// not depend on the stage.
func baseStatus(pod *v1.Pod) v1.PodStatus {
	status := *pod.Status.DeepCopy()
	status.ObservedGeneration = pod.Generation
	status.HostIP = hostIP
	status.HostIPs = []v1.HostIP{{IP: hostIP}}
	if pod.Spec.HostNetwork {
		status.PodIP = hostIP
		status.PodIPs = []v1.PodIP{{IP: hostIP}}
	}
	return status
}

// each makes a status for every container, in the order of the spec.
func each[C any](containers []C, status func(C) v1.ContainerStatus) []v1.ContainerStatus {
	var all []v1.ContainerStatus
	for _, c := range containers {
		all = append(all, status(c))
	}
	return all
}

// sorted is each in the order of the names, as a kubelet reports all but init
// containers.
func sorted[C any](containers []C, status func(C) v1.ContainerStatus) []v1.ContainerStatus {
	all := each(containers, status)
	slices.SortFunc(all, func(a, b v1.ContainerStatus) int { return strings.Compare(a.Name, b.Name) })
	return all
}
