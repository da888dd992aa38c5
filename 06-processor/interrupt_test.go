package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"example.com/informer/01-deltafifo/steps/stepstest"
)

// A bubble does not end well while one of its goroutines is left.
func TestStepsEndOnCtrlCAndLeaveNothingRunning(t *testing.T) {
	for _, step := range chapter.Steps {
		if step.Name == "stalled" {
			continue // it waits for nothing, and takes long to test
		}
		for lines := 1; lines <= 12; lines++ {
			synctest.Test(t, func(t *testing.T) {
				ctx, out := stepstest.CtrlCAt(t, lines)
				err := step.Run(ctx, out)
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, Ctrl-C at line %d: %v; want no other error", step.Name, lines, err)
				}
			})
		}
	}
}
