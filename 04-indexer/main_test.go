package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

// TestMain runs the chapter itself, or a part of it, when a test or a step
// starts this binary again.
func TestMain(m *testing.M) {
	stepstest.Program(main)
	if os.Getenv(underWatch) != "" {
		main()
		return
	}
	if run, ok := children[os.Getenv(child)]; ok {
		run()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) {
	kubetest.Need(t)
	stepstest.Run(t, chapter)
}

// These steps are run also with -short.
func TestStepsThatNeedNoCluster(t *testing.T) {
	needs := map[string]bool{"known": true, "kind": true}
	for _, step := range chapter.Steps {
		if !needs[step.Name] {
			t.Run(step.Name, func(t *testing.T) { stepstest.Check(t, step) })
		}
	}
}
