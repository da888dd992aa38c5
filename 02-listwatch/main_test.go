package main

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

// TestMain runs the chapter itself when a test starts this binary again.
func TestMain(m *testing.M) {
	if os.Getenv(runChapter) != "" {
		main()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) {
	kubetest.Need(t)
	stepstest.Run(t, chapter)
}
