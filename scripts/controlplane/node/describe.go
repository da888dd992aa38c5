// The node as an object: its labels, and the status of a machine that exists in name only.

package node

import (
	"cmp"
	"runtime"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// describe is the node as it is first created, not Ready yet: what a
// single-node kind cluster says of its control-plane node.
func describe(config Config) *v1.Node {
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name: config.Name,
			Labels: map[string]string{
				v1.LabelHostname:                        config.Name,
				v1.LabelOSStable:                        runtime.GOOS,
				v1.LabelArchStable:                      runtime.GOARCH,
				"beta.kubernetes.io/os":                 runtime.GOOS,
				"beta.kubernetes.io/arch":               runtime.GOARCH,
				"node-role.kubernetes.io/control-plane": "",
			},
			Annotations: map[string]string{
				"node.alpha.kubernetes.io/ttl":                           "0",
				"volumes.kubernetes.io/controller-managed-attach-detach": "true",
			},
		},
		Spec: v1.NodeSpec{
			PodCIDR:  podCIDR.String(),
			PodCIDRs: []string{podCIDR.String()},
		},
	}
}

// nodeStatus is what the node reports at the given time; old is what it
// reported before, so that a condition keeps the time since when it holds.
func nodeStatus(old v1.NodeStatus, config Config, now metav1.Time) v1.NodeStatus {
	resources := v1.ResourceList{
		v1.ResourceCPU:              resource.MustParse("8"),
		v1.ResourceMemory:           resource.MustParse("16Gi"),
		v1.ResourceEphemeralStorage: resource.MustParse("100Gi"),
		v1.ResourcePods:             resource.MustParse("110"),
	}
	status := old.DeepCopy()
	status.Capacity = resources
	status.Allocatable = resources.DeepCopy()
	status.Addresses = []v1.NodeAddress{
		{Type: v1.NodeInternalIP, Address: hostIP},
		{Type: v1.NodeHostName, Address: config.Name},
	}
	status.NodeInfo = v1.NodeSystemInfo{
		MachineID:               hash("machine", config.Name)[:32],
		SystemUUID:              hash("system", config.Name)[:32],
		BootID:                  hash("boot", config.Name)[:32],
		KernelVersion:           "simulated",
		OSImage:                 "Simulated node",
		ContainerRuntimeVersion: "simulated://" + cmp.Or(config.Version, "unknown"),
		KubeletVersion:          config.Version,
		OperatingSystem:         runtime.GOOS,
		Architecture:            runtime.GOARCH,
	}
	status.Conditions = []v1.NodeCondition{
		nodeCondition(v1.NodeMemoryPressure, v1.ConditionFalse, "KubeletHasSufficientMemory",
			"kubelet has sufficient memory available"),
		nodeCondition(v1.NodeDiskPressure, v1.ConditionFalse, "KubeletHasNoDiskPressure",
			"kubelet has no disk pressure"),
		nodeCondition(v1.NodePIDPressure, v1.ConditionFalse, "KubeletHasSufficientPID",
			"kubelet has sufficient PID available"),
		nodeCondition(v1.NodeReady, v1.ConditionTrue, "KubeletReady", "kubelet is posting ready status"),
	}
	for i := range status.Conditions {
		c := &status.Conditions[i]
		c.LastHeartbeatTime, c.LastTransitionTime = now, now
		for _, before := range old.Conditions {
			if before.Type == c.Type && before.Status == c.Status {
				c.LastTransitionTime = before.LastTransitionTime
			}
		}
	}
	return *status
}

func nodeCondition(kind v1.NodeConditionType, status v1.ConditionStatus, reason, message string) v1.NodeCondition {
	return v1.NodeCondition{Type: kind, Status: status, Reason: reason, Message: message}
}
