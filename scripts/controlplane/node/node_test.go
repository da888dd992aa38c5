// Tests of the whole node against a fake API server, on a clock that the test owns.

package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
)

// startNode runs the node until the test ends or calls stop.
func startNode(t *testing.T, client *fake.Clientset) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, client, Config{Name: nodeName, Version: "v1.37.1"}) }()
	stop = func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			t.Errorf("the node ended with %v", err)
		}
		ended <- context.Canceled // a second stop is fine
	}
	t.Cleanup(stop)
	synctest.Wait()
	return stop
}

// phases records what happens to pods from now on, with the time since now.
func phases(t *testing.T, client *fake.Clientset) func() []string {
	t.Helper()
	watch, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now()
	var seen []string
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watch.ResultChan() {
			pod := event.Object.(*v1.Pod)
			seen = append(seen, fmt.Sprintf("%v %s %s %s", time.Since(start), event.Type, pod.Name, pod.Status.Phase))
		}
	}()
	return func() []string {
		watch.Stop()
		<-done
		return seen
	}
}

func expect(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func getPod(t *testing.T, client *fake.Clientset, name string) *v1.Pod {
	t.Helper()
	pod, err := client.CoreV1().Pods("default").Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return pod
}

func create(t *testing.T, client *fake.Clientset, pod *v1.Pod) {
	t.Helper()
	if _, err := client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
}

// askToDelete does what the API server does with a DELETE of a pod that has a node.
func askToDelete(t *testing.T, client *fake.Clientset, name string) {
	t.Helper()
	pod := deleted(getPod(t, client, name))
	if _, err := client.CoreV1().Pods(pod.Namespace).Update(t.Context(), pod, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
}

func TestPodLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		startNode(t, client)
		seen := phases(t, client)
		create(t, client, boundPod("p", "nginx"))
		time.Sleep(5 * time.Second)
		askToDelete(t, client, "p")
		time.Sleep(5 * time.Second)
		expect(t, "the pod's life", seen(),
			"0s ADDED p Pending",
			"0s MODIFIED p Pending",
			"800ms MODIFIED p Running",
			"5s MODIFIED p Running",
			"5s MODIFIED p Running",
			"6s MODIFIED p Succeeded",
			"6.5s DELETED p Succeeded")
		expect(t, "events", reasons(client), "Pulled", "Created", "Started", "Killing")
		for _, action := range client.Actions() {
			if d, ok := action.(clienttesting.DeleteActionImpl); ok {
				if o := d.DeleteOptions; *o.GracePeriodSeconds != 0 || *o.Preconditions.UID != "uid-p" {
					t.Errorf("the final delete: %+v", o)
				}
			}
		}
	})
}

func reasons(client *fake.Clientset) []string {
	var all []string
	for _, action := range client.Actions() {
		if c, ok := action.(clienttesting.CreateAction); ok {
			if event, ok := c.GetObject().(*v1.Event); ok {
				all = append(all, event.Reason)
			}
		}
	}
	return all
}

func TestPodsOfOthersAreLeftAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		startNode(t, client)
		other := boundPod("other", "nginx")
		other.Spec.NodeName = "elsewhere"
		create(t, client, other)
		time.Sleep(time.Minute)
		if got := getPod(t, client, "other").Status; got.StartTime != nil {
			t.Errorf("a pod of another node has the status %+v", got)
		}
	})
}

func TestAddressesAcrossRestarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		stop := startNode(t, client)
		for _, name := range []string{"a", "b", "c"} {
			create(t, client, boundPod(name, "nginx"))
			time.Sleep(2 * time.Second)
		}
		stop()
		before := getPod(t, client, "a")
		askToDelete(t, client, "b") // while nobody looks

		startNode(t, client)
		time.Sleep(5 * time.Second)
		create(t, client, boundPod("d", "nginx"))
		time.Sleep(2 * time.Second)
		var got []string
		list, err := client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, pod := range list.Items {
			got = append(got, pod.Name+" "+string(pod.Status.Phase)+" "+pod.Status.PodIP)
		}
		expect(t, "pods", got, "a Running 10.244.0.2", "c Running 10.244.0.4", "d Running 10.244.0.3")
		if after := getPod(t, client, "a"); after.ResourceVersion != before.ResourceVersion {
			t.Errorf("the restart changed a pod that ran:\n%+v\n%+v", before.Status, after.Status)
		}
	})
}

func TestForcedDeleteFreesTheAddress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		ctx, cancel := context.WithCancel(t.Context())
		pods := newPods(client, Config{Name: nodeName})
		ended := make(chan struct{})
		go func() { defer close(ended); _ = pods.run(ctx) }()
		create(t, client, boundPod("p", "nginx"))
		time.Sleep(2 * time.Second)
		if err := client.CoreV1().Pods("default").Delete(t.Context(), "p", *metav1.NewDeleteOptions(0)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		cancel()
		<-ended
		if len(pods.addresses.taken) != 0 || len(pods.podStages.byName) != 0 {
			t.Errorf("left behind: addresses %v, pods %v", pods.addresses.taken, pods.podStages.byName)
		}
	})
}

func TestPodSurvivesErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		failures := 3
		client.PrependReactor("update", "pods", func(action clienttesting.Action) (bool, runtime.Object, error) {
			if failures--; failures >= 0 {
				return true, nil, errors.New("the API server is away")
			}
			return false, nil, nil
		})
		startNode(t, client)
		create(t, client, boundPod("p", "nginx"))
		time.Sleep(5 * time.Second)
		if got := getPod(t, client, "p").Status.Phase; got != v1.PodRunning {
			t.Errorf("after three failed writes the pod is %s", got)
		}
	})
}
