package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"

	"example.com/informer/scripts/harness/must"
)

// TestMain runs the chapter's program, if a test or the step detector has started this binary
// again.
func TestMain(m *testing.M) {
	must.Program(main)
	if len(os.Args) == 2 && os.Args[1] == "detector" {
		main()
	}
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) { must.Play(t, chapter) }

func TestAStepThatNeedsNoCluster(t *testing.T) { must.ExitWith(t, must.CommandOutside(t, "store"), 0) }

func TestAddKindRefusesWhatTheSchemeDoesNotKnow(t *testing.T) {
	for _, obj := range []any{"no object", unregisteredPod{}} {
		if _, err := addKind(obj); err == nil {
			t.Errorf("addKind(%T) = nil, want an error", obj)
		}
	}
}

// An unregisteredPod is an object of a type that is in no scheme.
type unregisteredPod struct{ *corev1.Pod }
