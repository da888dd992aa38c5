package main

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { steptest.RunInFakeTime(t, chapter) }

// A bubble does not end well while one of its goroutines is left.
func TestStepsEndOnCtrlCAndLeaveNothingRunning(t *testing.T) {
	for _, s := range chapter.Steps {
		if s.Name == "stalled" {
			continue // it waits for nothing, and takes long to test
		}
		for nth := 1; nth <= 12; nth++ {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				lines := 0
				err := chapter.Check(ctx, s, time.Minute, func(string) {
					if lines++; lines == nth {
						cancel()
					}
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Errorf("%s, Ctrl-C at line %d: %v; want no other error", s.Name, nth, err)
				}
			})
		}
	}
}
