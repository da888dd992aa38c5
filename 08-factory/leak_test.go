package main

import (
	"testing"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/07-shared-informer/web/leaktest"
)

var leaking = leaktest.Chapter{
	Env: stepstest.Env, Args: []string{"-follow", "-addr", "127.0.0.1:0"},
	Paths: []string{"/", "/pods", "/pods?label=app%3Dweb", "/pods/informer-leaktest/web", "/configmaps", "/nodes", "/deployments", "/replicasets", "/services",
		"/secrets", "/secrets/informer-leaktest/key", "/pods/informer-leaktest/key", "/healthz", "/readyz", "/unicorns", "/pods?x"},
}

// Whatever goes wrong with the API server, the token stays in the process, and
// Secrets are not even asked for.
func TestNoTokenAndNoSecretComeOut(t *testing.T) { leaking.Run(t) }

// Where Secrets are wanted, they are on their pages and nowhere else.
func TestSecretsThatAreWantedComeOutNowhereElse(t *testing.T) {
	wanted := leaking
	wanted.Args = append([]string{"-secrets"}, leaking.Args...)
	wanted.MayShow = []string{"/secrets", "/secrets/informer-leaktest/key"}
	wanted.Run(t)
}
