package main

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	must.Program(main)
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) {
	must.Play(t, chapter)
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, step := range chapter.Steps {
		must.EndOnCtrlC(t, chapter, step.Name)
	}
}

// The steps are the same with the parts of Part II.
func TestStepsWithPartTwo(t *testing.T) {
	partOne := informer.Default
	informer.Default = parttwo.Parts
	t.Cleanup(func() { informer.Default = partOne }) // after all steps
	must.Play(t, chapter)
}
