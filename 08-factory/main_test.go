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
	steptest.Run(t, chapter)
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, step := range chapter.Steps {
		steptest.EndsOnCtrlC(t, chapter, step.Name)
	}
}
