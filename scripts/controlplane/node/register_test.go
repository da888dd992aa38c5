// Tests of the registration and of the node's heartbeat.

package node

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

func getNode(t *testing.T, client *fake.Clientset) *v1.Node {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(t.Context(), nodeName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return node
}

// taintNewNodes does what the API server does on admission.
func taintNewNodes(client *fake.Clientset) {
	client.PrependReactor("create", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
		node := action.(clienttesting.CreateAction).GetObject().(*v1.Node)
		node.UID = "uid-node"
		node.Spec.Taints = append(node.Spec.Taints,
			v1.Taint{Key: v1.TaintNodeNotReady, Effect: v1.TaintEffectNoSchedule})
		return false, nil, nil
	})
}

func TestRegister(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		taintNewNodes(client)
		startNode(t, client)
		node := getNode(t, client)
		if len(node.Spec.Taints) != 0 || node.Spec.PodCIDR != "10.244.0.0/24" {
			t.Errorf("spec %+v", node.Spec)
		}
		if _, ok := node.Labels["node-role.kubernetes.io/control-plane"]; !ok ||
			node.Labels[v1.LabelHostname] != nodeName {
			t.Errorf("labels %v", node.Labels)
		}
		if info := node.Status.NodeInfo; info.KubeletVersion != "v1.37.1" {
			t.Errorf("version %s", info.KubeletVersion)
		}
		if node.Status.Allocatable.Cpu().IsZero() || node.Status.Allocatable.Pods().Value() != 110 {
			t.Errorf("allocatable %v", node.Status.Allocatable)
		}
		for _, c := range node.Status.Conditions {
			if (c.Type == v1.NodeReady) != (c.Status == v1.ConditionTrue) {
				t.Errorf("%s is %s", c.Type, c.Status)
			}
		}
	})
}

// A pod may come as soon as the node is Ready, so by then it takes pods.
func TestNeverReadyAndTainted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		taintNewNodes(client)
		client.PrependReactor("update", "nodes", func(action clienttesting.Action) (bool, runtime.Object, error) {
			node := action.(clienttesting.UpdateAction).GetObject().(*v1.Node)
			if len(node.Status.Conditions) > 0 && len(node.Spec.Taints) > 0 {
				t.Errorf("Ready with taints: %+v", node.Spec.Taints)
			}
			return false, nil, nil
		})
		startNode(t, client)
	})
}

func TestRegisterWaitsForTheServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		tries := 0
		client.PrependReactor("create", "nodes", func(clienttesting.Action) (bool, runtime.Object, error) {
			if tries++; tries <= 10 {
				return true, nil, errors.New("connection refused")
			}
			return false, nil, nil
		})
		startNode(t, client)
		time.Sleep(10 * registerEvery)
		synctest.Wait()
		getNode(t, client)
	})
}

func TestRegisterAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		taintNewNodes(client)
		stop := startNode(t, client)
		stop()
		node := getNode(t, client)
		since := node.Status.Conditions[0].LastTransitionTime
		node.Labels = map[string]string{"team": "a"}
		node.Spec.Unschedulable = true
		node.Spec.Taints = []v1.Taint{{Key: v1.TaintNodeUnreachable}, {Key: "mine"}}
		if _, err := client.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)

		startNode(t, client)
		node = getNode(t, client)
		if node.Labels["team"] != "a" || node.Labels[v1.LabelHostname] != nodeName || !node.Spec.Unschedulable {
			t.Errorf("labels %v, spec %+v: what others set must stay, what is the node's must be there",
				node.Labels, node.Spec)
		}
		if len(node.Spec.Taints) != 1 || node.Spec.Taints[0].Key != "mine" {
			t.Errorf("taints %v", node.Spec.Taints)
		}
		if c := node.Status.Conditions[0]; c.LastTransitionTime != since || c.LastHeartbeatTime == since {
			t.Errorf("condition %+v; it has held since %v", c, since)
		}
	})
}

func TestHeartbeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		taintNewNodes(client)
		startNode(t, client)
		lease := func() time.Time {
			l, err := client.CoordinationV1().Leases(v1.NamespaceNodeLease).Get(t.Context(), nodeName,
				metav1.GetOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if *l.Spec.HolderIdentity != nodeName || *l.Spec.LeaseDurationSeconds != 40 ||
				l.OwnerReferences[0].UID != "uid-node" {
				t.Errorf("lease %+v", l)
			}
			return l.Spec.RenewTime.Time
		}
		first := lease()
		time.Sleep(2 * renewEvery)
		if second := lease(); !second.After(first) {
			t.Errorf("the lease of %v is not renewed by %v", first, time.Now())
		}
		beat := getNode(t, client).Status.Conditions[0].LastHeartbeatTime
		time.Sleep(reportEvery)
		if next := getNode(t, client).Status.Conditions[0].LastHeartbeatTime; !next.After(beat.Time) {
			t.Errorf("no status reported since %v", beat)
		}
	})
}
