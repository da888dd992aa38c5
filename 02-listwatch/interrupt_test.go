// How the program and its steps end on Ctrl-C.

package main

import (
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
)

// The test creates a pod in the namespace of the step, waits for the event, and sends Ctrl-C.
func TestFollowShowsChangesUntilCtrlCAndCleansUp(t *testing.T) {
	s := sessiontest.Open(t)
	cmd := must.Command(t, "watch", "-follow")
	testNamespace := s.Namespace
	namespace := "" // of the step
	podSeen := false
	code := must.ReadLines(t, cmd, func(line string) {
		if _, rest, ok := strings.Cut(line, " -n "); ok && namespace == "" {
			namespace = strings.Fields(rest)[0]
			s.Namespace = namespace
			sessiontest.Kubectl(t, s, "run nettool --image=registry.k8s.io/pause:3.10.2")
			s.Namespace = testNamespace
		}
		if !podSeen && strings.HasPrefix(line, "ADDED : nettool") {
			podSeen = true
			must.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	if !podSeen {
		t.Error("the program did not print the event of the pod")
	}
	ns, err := s.Client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return
	}
	must.NoError(t, err)
	if ns.DeletionTimestamp == nil {
		t.Errorf("the namespace %s exists and is not being deleted", namespace)
	}
}

func TestCtrlCStopsAStep(t *testing.T) {
	sessiontest.Open(t)
	cmd := must.Command(t, "watch")
	code := must.ReadLines(t, cmd, func(line string) {
		if strings.HasPrefix(line, "ADDED") {
			must.NoError(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	if code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, s := range chapter.Steps {
		switch s.Name {
		case "watch", "gone", "bookmark", "stream", "select":
			must.EndOnCtrlC(t, chapter, s.Name)
		}
	}
}
