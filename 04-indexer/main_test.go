package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"example.com/informer/scripts/harness/step/steptest"
)

// TestMain runs the chapter where a test, or the step detector, has started this
// binary again.
func TestMain(m *testing.M) {
	steptest.Program(main)
	if len(os.Args) == 2 && os.Args[1] == "detector" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) { steptest.Run(t, chapter) }

func TestAStepThatNeedsNoCluster(t *testing.T) { steptest.WantExit(t, steptest.Outside(t, "store"), 0) }

func TestAddKindRefusesWhatTheSchemeDoesNotKnow(t *testing.T) {
	for _, obj := range []any{"no object", unregisteredPod{}} {
		if _, err := addKind(obj); err == nil {
			t.Errorf("it gave %T a kind", obj)
		}
	}
}

// An unregisteredPod is an object that no scheme knows.
type unregisteredPod struct{ *corev1.Pod }
