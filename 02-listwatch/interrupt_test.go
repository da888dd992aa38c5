// What the chapter does on Ctrl-C.

package main

import (
	"os"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step/steptest"
)

// With -follow, a change is made in the step's namespace; its event comes, and then Ctrl-C.
func TestFollowShowsChangesUntilCtrlCAndCleansUp(t *testing.T) {
	s := sessiontest.Open(t)
	cmd, own, namespace, seen := steptest.Command(t, "watch", "-follow"), s.Namespace, "", false
	code := steptest.ReadLines(t, cmd, func(line string) {
		if _, rest, ok := strings.Cut(line, " -n "); ok && namespace == "" {
			namespace = strings.Fields(rest)[0]
			s.Namespace = namespace // of the step
			sessiontest.Kubectl(t, s, "run nettool --image=registry.k8s.io/pause:3.10.2")
			s.Namespace = own
		}
		if !seen && strings.HasPrefix(line, "ADDED : nettool") {
			seen = true
			must.Do(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	expect.That(t, code == 0 && seen, "exit code %d, want 0; the pod was seen: %t", code, seen)
	ns, err := s.Client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	expect.That(t, apierrors.IsNotFound(err) || (err == nil && ns.DeletionTimestamp != nil),
		"namespace %s is still there and not on its way out (error: %v)", namespace, err)
}

func TestCtrlCStopsAStep(t *testing.T) {
	sessiontest.Open(t)
	cmd := steptest.Command(t, "watch")
	code := steptest.ReadLines(t, cmd, func(line string) {
		if strings.HasPrefix(line, "ADDED") {
			must.Do(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	expect.That(t, code == 130, "exit code %d, want 130", code)
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, s := range chapter.Steps {
		switch s.Name {
		case "watch", "gone", "bookmark", "stream", "select":
			steptest.EndsOnCtrlC(t, chapter, s.Name)
		}
	}
}
