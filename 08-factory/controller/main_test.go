package main

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	must.Program(main)
	log.SetLogger(logr.Discard())
	// controller-runtime leaves a goroutine behind if an informer ends before its handler has
	// synced.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(
		"sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformerHandlerRegistration.func1"))
}

func TestSteps(t *testing.T) { must.Play(t, chapter) }

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
