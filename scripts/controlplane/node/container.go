// The status of one container: waiting, running or ended.

package node

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/distribution/reference"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	podutil "k8s.io/kubernetes/pkg/api/v1/pod"
)

func waitingContainer(pod *v1.Pod, c v1.Container) v1.ContainerStatus {
	reason := "ContainerCreating"
	if len(pod.Spec.InitContainers) > 0 {
		reason = "PodInitializing"
	}
	return v1.ContainerStatus{
		Name:    c.Name,
		Image:   c.Image,
		State:   v1.ContainerState{Waiting: &v1.ContainerStateWaiting{Reason: reason}},
		Started: new(false),
	}
}

// runningContainer leaves a container alone that runs already, unless it is to
// run another image.
func runningContainer(pod *v1.Pod, c v1.Container, before []v1.ContainerStatus, now metav1.Time) v1.ContainerStatus {
	status := created(pod, c, before)
	if image := imageName(c.Image); status.Image != image {
		status.LastTerminationState = v1.ContainerState{Terminated: completed(status, now)}
		status.RestartCount++
		status.Image = image
		status.ImageID = imageID(image)
		status.ContainerID = containerID(pod, c, status.RestartCount)
		status.State = v1.ContainerState{}
	}
	if status.State.Running == nil {
		status.State = v1.ContainerState{Running: &v1.ContainerStateRunning{StartedAt: now}}
	}
	status.Started, status.Ready = new(true), true
	return status
}

// completedContainer leaves a container alone that has ended already.
func completedContainer(pod *v1.Pod, c v1.Container, before []v1.ContainerStatus, now metav1.Time) v1.ContainerStatus {
	status := created(pod, c, before)
	if status.State.Terminated == nil {
		status.State = v1.ContainerState{Terminated: completed(status, now)}
	}
	// An init container that has done its work counts as ready for good.
	status.Started, status.Ready = new(false), isInit(pod, c) && !podutil.IsRestartableInitContainer(&c)
	return status
}

// unprobed is the status of an ephemeral container: nobody asks whether it is ready.
func unprobed(status v1.ContainerStatus) v1.ContainerStatus {
	status.Started, status.Ready = nil, false
	return status
}

// created is the status that the container has had, or else that of one that
// has just been created.
func created(pod *v1.Pod, c v1.Container, before []v1.ContainerStatus) v1.ContainerStatus {
	was, _ := podutil.GetContainerStatus(before, c.Name)
	status := *was.DeepCopy()
	status.Name = c.Name
	if status.ContainerID == "" {
		status.Image = imageName(c.Image)
		status.ImageID = imageID(status.Image)
		status.ContainerID = containerID(pod, c, status.RestartCount)
	}
	return status
}

// completed is how a container ends that stops when it is asked to.
func completed(status v1.ContainerStatus, now metav1.Time) *v1.ContainerStateTerminated {
	started := now
	if status.State.Running != nil {
		started = status.State.Running.StartedAt
	}
	return &v1.ContainerStateTerminated{
		ExitCode:    0,
		Reason:      "Completed",
		StartedAt:   started,
		FinishedAt:  now,
		ContainerID: status.ContainerID,
	}
}

func isInit(pod *v1.Pod, c v1.Container) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(i v1.Container) bool { return i.Name == c.Name })
}

// imageName is the full name of an image, as a container runtime reports it:
// nginx is docker.io/library/nginx:latest.
func imageName(image string) string {
	named, err := reference.ParseDockerRef(image)
	if err != nil {
		return image
	}
	return named.String()
}

// imageID makes up a digest for an image that nobody has pulled.
func imageID(image string) string {
	name, _, digested := strings.Cut(image, "@")
	if digested {
		return image
	}
	if tag := strings.LastIndex(name, ":"); tag > strings.LastIndex(name, "/") {
		name = name[:tag]
	}
	return name + "@sha256:" + hash(image)
}

func containerID(pod *v1.Pod, c v1.Container, restarts int32) string {
	return "containerd://" + hash(string(pod.UID), c.Name, strconv.Itoa(int(restarts)))
}

// hash makes one 64-digit name of several, always the same.
func hash(parts ...string) string {
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:])
}
