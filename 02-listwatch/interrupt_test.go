// What the chapter does on Ctrl-C.

package main

import (
	"os"
	"regexp"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/step/steptest"
)

// interrupt runs the chapter until it prints a line that matches, presses
// Ctrl-C, and returns the exit code and what matched.
func interrupt(t *testing.T, line *regexp.Regexp, args ...string) (code int, match string) {
	t.Helper()
	cmd := steptest.Command(t, args...)
	code = steptest.ReadLines(t, cmd, func(printed string) {
		if match == "" && line.MatchString(printed) {
			match = line.FindString(printed)
			must.Do(t, cmd.Process.Signal(os.Interrupt))
		}
	})
	return code, match
}

func TestFollowEndsWellOnCtrlCAndCleansUp(t *testing.T) {
	s := sessiontest.Open(t)
	code, namespace := interrupt(t, regexp.MustCompile(`informer-[a-z0-9]+`), "watch", "-follow")
	if code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
	ns, err := s.Client.CoreV1().Namespaces().Get(t.Context(), namespace, metav1.GetOptions{})
	if !apierrors.IsNotFound(err) && (err != nil || ns.DeletionTimestamp == nil) {
		t.Errorf("namespace %s is still there and not on its way out (error: %v)", namespace, err)
	}
}

func TestCtrlCStopsAStep(t *testing.T) {
	sessiontest.Open(t)
	if code, _ := interrupt(t, regexp.MustCompile(`^ADDED`), "watch"); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, s := range chapter.Steps {
		switch s.Name {
		case "watch", "gone", "bookmark", "stream", "select":
			steptest.EndsOnCtrlC(t, chapter, s.Name)
		}
	}
}
