package main

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) {
	steptest.Program(main)
	addr = "127.0.0.1:0" // any free port
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster; and the step controllers builds one of its own")
	}
	steptest.Run(t, chapter)
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, step := range chapter.Steps {
		if step.Name == "controllers" {
			continue // it makes a control plane of its own, and is tested there
		}
		steptest.EndsOnCtrlC(t, chapter, step.Name)
	}
}
