package main

import (
	"testing"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/07-shared-informer/web/leaktest"
)

// Whatever goes wrong with the API server, the token stays in the process, and
// Secrets are not even asked for.
func TestNoTokenAndNoSecretComeOut(t *testing.T) {
	leaktest.Chapter{
		Env: stepstest.Env, Args: []string{"-follow", "-addr", "127.0.0.1:0"},
		Paths: []string{"/", "/pods", "/pods?app=web", "/pods?x", "/indexes", "/indexes/app/web", "/indexes/x/y", "/secrets"},
	}.Run(t)
}
