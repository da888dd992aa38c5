package main

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

func TestMain(m *testing.M) {
	stepstest.Program(main)
	addr = "127.0.0.1:0" // any free port
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) {
	kubetest.Need(t)
	stepstest.Run(t, chapter)
}
