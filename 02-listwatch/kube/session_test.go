package kube_test

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/02-listwatch/kubetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestASessionIsReadyForPods(t *testing.T) {
	s := kubetest.Open(t)
	if err := s.RunPod(t.Context(), "nettool"); err != nil {
		t.Error(err) // refused as long as there is no service account
	}
}

func TestWaitPrinted(t *testing.T) {
	s := kubetest.Open(t)
	s.Printf("one ")
	for _, text := range []string{"one", "one two", "three"} {
		done := make(chan error, 1)
		go func() { done <- s.WaitPrinted(t.Context(), text) }()
		switch text {
		case "one two":
			s.Printf("two\n") // a text may come in pieces
		case "three":
			s.Printf("three\n")
		}
		if err := <-done; err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.WaitPrinted(ended, "never"); !errors.Is(err, context.Canceled) {
		t.Errorf("WaitPrinted() = %v with an ended context, want that it was cancelled", err)
	}
}

func TestPodLifeWaitsForTheStepToSeeThePodRun(t *testing.T) {
	s := kubetest.Open(t)
	life := make(chan error, 1)
	go func() { life <- s.PodLife(t.Context(), "nettool") }()
	if err := s.WaitRunning(t.Context(), "nettool"); err != nil {
		t.Fatal(err)
	}
	pod, err := s.Clientset.CoreV1().Pods(s.Namespace).Get(t.Context(), "nettool", metav1.GetOptions{})
	if err != nil || pod.DeletionTimestamp != nil {
		t.Fatalf("the pod was deleted before anyone printed that it runs (error: %v)", err)
	}
	s.Printf("nettool : %s\n", corev1.PodRunning)
	if err := <-life; err != nil {
		t.Error(err)
	}
}

func TestCloseRemovesTheNamespaceAlsoAfterCtrlC(t *testing.T) {
	cluster := kubetest.Need(t)
	s, err := cluster.OpenSession(t.Context(), t.Output())
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Close(ended); err != nil {
		t.Fatal(err)
	}
	ns, err := cluster.Clientset.CoreV1().Namespaces().Get(t.Context(), s.Namespace, metav1.GetOptions{})
	if err == nil && ns.DeletionTimestamp == nil {
		t.Errorf("namespace %s is still there", s.Namespace)
	}
}
