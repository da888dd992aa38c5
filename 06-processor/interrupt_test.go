package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
)

// interrupting is Ctrl-C when so many lines were printed.
type interrupting struct {
	lines int
	stop  func()
}

func (w *interrupting) Write(p []byte) (int, error) {
	if w.lines--; w.lines <= 0 {
		w.stop()
	}
	return len(p), nil
}

// A bubble does not end well while one of its goroutines is left.
func TestStepsEndOnCtrlCAndLeaveNothingRunning(t *testing.T) {
	for _, step := range chapter.Steps {
		if step.Name == "stalled" {
			continue // it waits for nothing, and takes long to test
		}
		for lines := 1; lines <= 12; lines++ {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				err := step.Run(ctx, &interrupting{lines, cancel})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, Ctrl-C at line %d: %v; want no other error", step.Name, lines, err)
				}
			})
		}
	}
}
