package main

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/step/steptest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { steptest.Run(t, chapter) }
