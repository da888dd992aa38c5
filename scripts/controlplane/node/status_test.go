// Tests of the statuses: what a pod looks like at each stage.

package node

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var (
	noon  = metav1.NewTime(time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC))
	later = metav1.NewTime(noon.Add(time.Minute))
)

func TestStageOf(t *testing.T) {
	fresh := boundPod("p", "nginx")
	creating := at(fresh, creatingStatus(fresh, noon))
	run := at(creating, runningStatus(creating, "10.0.0.2", noon))
	going := deleted(run)
	noticed := at(going, observedStatus(going))
	ended := at(noticed, stoppedStatus(noticed, later))
	completed := ended.DeepCopy()
	completed.DeletionTimestamp = nil
	for _, test := range []struct {
		name string
		pod  *v1.Pod
		want stage
	}{
		{"bound", fresh, accepting},
		{"accepted", creating, starting},
		{"runs", run, running},
		{"deleted", going, noticing},
		{"deletion noticed", noticed, stopping},
		{"ended", ended, removing},
		{"ended, not deleted", completed, done},
	} {
		if got := stageOf(test.pod); got != test.want {
			t.Errorf("%s: stage %v, want %v", test.name, got, test.want)
		}
	}
}

func TestLifeOfAPod(t *testing.T) {
	pod := boundPod("p", "registry.k8s.io/pause:3.10.2")
	pod = at(pod, creatingStatus(pod, noon))
	check(t, pod, "Pending", "a waiting ContainerCreating",
		"PodReadyToStartContainers=False PodSandboxNotReady", "Initialized=True", "Ready=False ContainersNotReady",
		"ContainersReady=False ContainersNotReady", "PodScheduled=True")
	if got := condition(pod.Status, v1.PodReady).Message; got != "containers with unready status: [a]" {
		t.Errorf("Ready says %q", got)
	}

	pod = at(pod, runningStatus(pod, "10.0.0.2", later))
	check(t, pod, "Running", "a running ready started",
		"PodReadyToStartContainers=True", "Initialized=True", "Ready=True", "ContainersReady=True", "PodScheduled=True")
	if s := pod.Status; s.PodIP != "10.0.0.2" || s.PodIPs[0].IP != s.PodIP || s.HostIPs[0].IP != hostIP ||
		*s.StartTime != noon || s.QOSClass != v1.PodQOSBestEffort {
		t.Errorf("running: %+v", s)
	}
	if since := condition(pod.Status, v1.PodInitialized).LastTransitionTime; since != noon {
		t.Errorf("Initialized since %v, want %v: it held before", since, noon)
	}
	if again := runningStatus(pod, "10.0.0.2", metav1.Now()); !equality.Semantic.DeepEqual(again, pod.Status) {
		t.Errorf("a pod that runs changes:\n%+v\n%+v", pod.Status, again)
	}

	pod = deleted(pod)
	pod = at(pod, observedStatus(pod))
	check(t, pod, "Running", "a running ready started",
		"PodReadyToStartContainers=True", "Initialized=True", "Ready=True", "ContainersReady=True", "PodScheduled=True")
	pod = at(pod, stoppedStatus(pod, later))
	check(t, pod, "Succeeded", "a terminated Completed 0",
		"PodReadyToStartContainers=False PodSandboxNotReady", "Initialized=True PodCompleted",
		"Ready=False PodCompleted",
		"ContainersReady=False PodCompleted", "PodScheduled=True")
}

func TestInitContainersAndSidecars(t *testing.T) {
	pod := boundPod("p", "nginx", "redis")
	pod.Spec.Containers[0].Name = "z"
	pod.Spec.InitContainers = []v1.Container{
		{Name: "setup", Image: "busybox"},
		{Name: "proxy", Image: "envoy", RestartPolicy: new(v1.ContainerRestartPolicyAlways)},
	}
	pod = at(pod, creatingStatus(pod, noon))
	check(t, pod, "Pending",
		"setup waiting PodInitializing, proxy waiting PodInitializing, b waiting PodInitializing, z waiting "+
			"PodInitializing",
		"PodReadyToStartContainers=False PodSandboxNotReady", "Initialized=False ContainersNotInitialized",
		"Ready=False ContainersNotReady",
		"ContainersReady=False ContainersNotReady", "PodScheduled=True")
	if got := condition(pod.Status, v1.ContainersReady).Message; got != "containers with unready status: [proxy z b]" {
		t.Errorf("ContainersReady says %q", got)
	}
	pod = at(pod, runningStatus(pod, "10.0.0.2", noon))
	check(t, pod, "Running",
		"setup terminated Completed 0 ready, proxy running ready started, b running ready started, z running ready "+
			"started",
		"PodReadyToStartContainers=True", "Initialized=True", "Ready=True", "ContainersReady=True", "PodScheduled=True")
	pod = deleted(pod)
	pod = at(pod, stoppedStatus(pod, later))
	check(t, pod, "Succeeded",
		"setup terminated Completed 0 ready, proxy terminated Completed 0, b terminated Completed 0, z terminated "+
			"Completed 0",
		"PodReadyToStartContainers=False PodSandboxNotReady", "Initialized=True PodCompleted",
		"Ready=False PodCompleted",
		"ContainersReady=False PodCompleted", "PodScheduled=True")
}

func TestDeletedBeforeItRan(t *testing.T) {
	pod := boundPod("p", "nginx")
	pod = deleted(at(pod, creatingStatus(pod, noon)))
	status := stoppedStatus(pod, later)
	end := status.ContainerStatuses[0].State.Terminated
	if status.Phase != v1.PodSucceeded || end == nil || end.StartedAt != later || end.ContainerID == "" {
		t.Errorf("status %+v", status)
	}
}

func TestReadinessGate(t *testing.T) {
	pod := boundPod("p", "nginx")
	pod.Spec.ReadinessGates = []v1.PodReadinessGate{{ConditionType: "example.com/gate"}}
	for _, test := range []struct {
		gate v1.ConditionStatus
		want string
	}{
		{"", `False: corresponding condition of pod readiness gate "example.com/gate" does not exist.`},
		{v1.ConditionFalse, `False: the status of pod readiness gate "example.com/gate" is not "True", but False`},
		{v1.ConditionTrue, "True: "},
	} {
		pod.Status.Conditions = nil
		if test.gate != "" {
			pod.Status.Conditions = []v1.PodCondition{{Type: "example.com/gate", Status: test.gate}}
		}
		status := runningStatus(pod, "10.0.0.2", noon)
		c := condition(status, v1.PodReady)
		if got := string(c.Status) + ": " + c.Message; got != test.want {
			t.Errorf("gate %q: Ready is %s, want %s", test.gate, got, test.want)
		}
		if got := condition(status, "example.com/gate").Status; got != test.gate {
			t.Errorf("the gate's own condition became %q, want %q", got, test.gate)
		}
	}
}

func TestChangesOfARunningPod(t *testing.T) {
	pod := boundPod("p", "nginx:1", "redis")
	pod = at(pod, runningStatus(pod, "10.0.0.2", noon))
	before := pod.Status.ContainerStatuses

	pod.Spec.Containers[0].Image = "nginx:2"
	pod.Spec.EphemeralContainers = []v1.EphemeralContainer{{
		EphemeralContainerCommon: v1.EphemeralContainerCommon{Name: "debug", Image: "busybox"},
	}}
	pod.Generation++
	status := runningStatus(pod, "10.0.0.2", later)

	a, b := status.ContainerStatuses[0], status.ContainerStatuses[1]
	if a.RestartCount != 1 || a.Image != "docker.io/library/nginx:2" || a.ContainerID == before[0].ContainerID ||
		a.State.Running.StartedAt != later || a.LastTerminationState.Terminated.ContainerID != before[0].ContainerID {
		t.Errorf("a container with a new image: %+v", a)
	}
	if b.RestartCount != 0 || b.State.Running.StartedAt != noon {
		t.Errorf("a container that was left as it is: %+v", b)
	}
	if d := status.EphemeralContainerStatuses[0]; d.State.Running == nil || d.Ready || d.Started != nil {
		t.Errorf("an ephemeral container: %+v", d)
	}
	if status.ObservedGeneration != 2 || condition(status, v1.PodReady).ObservedGeneration != 2 {
		t.Errorf("generation %d is not observed: %+v", pod.Generation, status)
	}
}

func TestHostNetwork(t *testing.T) {
	pod := boundPod("p", "nginx")
	pod.Spec.HostNetwork = true
	if got := creatingStatus(pod, noon).PodIP; got != hostIP {
		t.Errorf("address %q, want the node's, %s", got, hostIP)
	}
}

func TestImages(t *testing.T) {
	digest := "@sha256:" + strings.Repeat("0", 64)
	for _, test := range []struct{ image, name, id string }{
		{"nginx", "docker.io/library/nginx:latest", "docker.io/library/nginx@sha256:"},
		{"localhost:5000/x/y:1", "localhost:5000/x/y:1", "localhost:5000/x/y@sha256:"},
		{"registry.k8s.io/pause" + digest, "registry.k8s.io/pause" + digest, "registry.k8s.io/pause" + digest},
		{"NO IMAGE", "NO IMAGE", "NO IMAGE@sha256:"},
	} {
		if got := imageName(test.image); got != test.name {
			t.Errorf("name of %s is %s, want %s", test.image, got, test.name)
		}
		if got := imageID(imageName(test.image)); !strings.HasPrefix(got, test.id) {
			t.Errorf("ID of %s is %s, want %s…", test.image, got, test.id)
		}
	}
}

// check compares the phase, the containers and the conditions of a pod with
// what is wanted, in short form.
func check(t *testing.T, pod *v1.Pod, phase v1.PodPhase, containers string, conditions ...string) {
	t.Helper()
	if pod.Status.Phase != phase {
		t.Errorf("phase %s, want %s", pod.Status.Phase, phase)
	}
	if pod.Status.ObservedGeneration != pod.Generation {
		t.Errorf("%s: observed generation %d of %d", phase, pod.Status.ObservedGeneration, pod.Generation)
	}
	var got []string
	for _, s := range allContainers(pod.Status) {
		got = append(got, inShort(s))
	}
	if all := strings.Join(got, ", "); all != containers {
		t.Errorf("%s: containers %s\nwant %s", phase, all, containers)
	}
	got = nil
	for _, c := range pod.Status.Conditions {
		got = append(got, strings.TrimSpace(string(c.Type)+"="+string(c.Status)+" "+c.Reason))
		if c.ObservedGeneration != pod.Generation {
			t.Errorf("%s: %s observed generation %d of %d", phase, c.Type, c.ObservedGeneration, pod.Generation)
		}
	}
	if all, want := strings.Join(got, ", "), strings.Join(conditions, ", "); all != want {
		t.Errorf("%s: conditions %s\nwant %s", phase, all, want)
	}
}

func inShort(s v1.ContainerStatus) string {
	text := s.Name
	switch {
	case s.State.Waiting != nil:
		text += " waiting " + s.State.Waiting.Reason
	case s.State.Running != nil:
		text += " running"
	case s.State.Terminated != nil:
		text += " terminated " + s.State.Terminated.Reason + " " + string(rune('0'+s.State.Terminated.ExitCode))
	}
	if s.Ready {
		text += " ready"
	}
	if s.Started != nil && *s.Started {
		text += " started"
	}
	return text
}
