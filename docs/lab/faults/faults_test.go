// Every fault, once and at a small scale.

package main

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	setUp()
	goleak.VerifyTestMain(m)
}

// The timeout of smallScale is long, because a reflector that was often refused can pause for a
// minute, and a busy machine needs more.
var smallScale = scale{hold: 500 * time.Millisecond, deletes: 500, rereadsTokens: true, timeout: 5 * time.Minute}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	// The client closes a silent connection after ten seconds. With less time, a busy server seems
	// to be dead.
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "5")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "5")
	const seed = 20240529
	r, err := newRunner(t.Context(), seed, smallScale, os.Stderr)
	must.NoError(t, err)
	defer func() {
		if err := r.env.stop(); err != nil {
			t.Error(err)
		}
	}()
	for _, f := range allFaults() {
		environmentWorks := false
		t.Run(f.name, func(t *testing.T) {
			run, err := r.run(t.Context(), f)
			must.NoError(t, err)
			must.NoError(t, r.checkHeap())
			environmentWorks = true
			for _, result := range run {
				printResult(t.Output(), result)
				checkResult(t, f, result)
			}
		})
		if !environmentWorks {
			return // the other faults would fail, too
		}
	}
}

// checkResult wants no errors, except for an error of client-go that is known.
func checkResult(t *testing.T, f entry, r result) {
	t.Helper()
	isKnownToFail := r.implementation == clientGo && f.clientGoFails != ""
	if isKnownToFail && r.err == nil {
		t.Errorf("%s has no errors, want some: it %s", r.implementation, f.clientGoFails)
	}
	if !isKnownToFail && r.err != nil {
		t.Errorf("%s has %d errors, want none:\n%v", r.implementation, r.errors, r.err)
	}
}
