// The events that `kubectl describe pod` shows under a pod of the node.

package node

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	typedcore "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/tools/record"
)

// events says what happens to the containers of a pod, in the name of a kubelet.
type events struct {
	recorder record.EventRecorder
	stop     func()
}

func startEvents(ctx context.Context, client kubernetes.Interface, node string) *events {
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcore.EventSinkImpl{Interface: client.CoreV1().Events("")})
	recorder := broadcaster.NewRecorder(scheme.Scheme, v1.EventSource{Component: "kubelet", Host: node})
	return &events{recorder, broadcaster.Shutdown}
}

// started reports the containers that have started between the status that the
// pod has and the one given.
func (e *events) started(pod *v1.Pod, status v1.PodStatus) {
	known := map[string]bool{}
	for _, s := range allContainers(pod.Status) {
		if s.ContainerID != "" {
			known[s.ContainerID] = true
		}
	}
	for _, s := range allContainers(status) {
		if known[s.ContainerID] {
			continue
		}
		ref := containerRef(pod, s.Name)
		e.recorder.Eventf(ref, v1.EventTypeNormal, "Pulled",
			"Container image %q already present on machine and can be accessed by the pod", s.Image)
		e.recorder.Event(ref, v1.EventTypeNormal, "Created", "Container created")
		e.recorder.Event(ref, v1.EventTypeNormal, "Started", "Container started")
	}
}

// stopping reports the containers that are asked to end.
func (e *events) stopping(pod *v1.Pod) {
	for _, s := range allContainers(pod.Status) {
		if s.State.Running != nil {
			e.recorder.Eventf(containerRef(pod, s.Name), v1.EventTypeNormal, "Killing", "Stopping container %s", s.Name)
		}
	}
}

func allContainers(status v1.PodStatus) []v1.ContainerStatus {
	var all []v1.ContainerStatus
	all = append(all, status.InitContainerStatuses...)
	all = append(all, status.ContainerStatuses...)
	return append(all, status.EphemeralContainerStatuses...)
}

// containerRef names a container within its pod, as an event's object.
func containerRef(pod *v1.Pod, container string) *v1.ObjectReference {
	list := "containers"
	if isInit(pod, v1.Container{Name: container}) {
		list = "initContainers"
	}
	for _, c := range pod.Spec.EphemeralContainers {
		if c.Name == container {
			list = "ephemeralContainers"
		}
	}
	return &v1.ObjectReference{
		APIVersion:      "v1",
		Kind:            "Pod",
		Namespace:       pod.Namespace,
		Name:            pod.Name,
		UID:             pod.UID,
		ResourceVersion: pod.ResourceVersion,
		FieldPath:       fmt.Sprintf("spec.%s{%s}", list, container),
	}
}
