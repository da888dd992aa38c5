package main

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/01-deltafifo/steps/stepstest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestSteps(t *testing.T) { stepstest.RunInFakeTime(t, chapter) }
