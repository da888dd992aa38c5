package main

import (
	"testing"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) {
	steptest.Program(main)
	log.SetLogger(logr.Discard())
	// controller-runtime leaves a goroutine if an informer ends before its handler has synced.
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction(
		"sigs.k8s.io/controller-runtime/pkg/cache.newMultiNamespaceInformerHandlerRegistration.func1"))
}

func TestSteps(t *testing.T) { steptest.Run(t, chapter) }

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, step := range chapter.Steps {
		steptest.EndsOnCtrlC(t, chapter, step.Name)
	}
}
