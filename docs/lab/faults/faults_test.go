// Every fault once, small.

package main

import (
	"errors"
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

// The pause of a reflector that was often refused can be a minute, and a busy machine needs more.
var smallScale = scale{hold: 500 * time.Millisecond, deletes: 500, rereadsTokens: true, timeout: 5 * time.Minute}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	// A silent connection is given up after ten seconds. With less, a busy server seems to be dead.
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "5")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "5")
	const seed = 20240529
	r, err := newRunner(t.Context(), seed, smallScale, os.Stderr)
	must.Do(t, err)
	defer func() {
		if err := r.env.stop(); err != nil {
			t.Error(err)
		}
	}()
	var broken error // the environment: no further fault makes sense
	for _, fault := range allFaults() {
		if broken != nil {
			return
		}
		t.Run(fault.name, func(t *testing.T) {
			var both results
			both, broken = r.run(t.Context(), fault)
			if broken = errors.Join(broken, r.checkHeap()); broken != nil {
				t.Fatal(broken)
			}
			for _, result := range both {
				printResult(t.Output(), result)
				known := result.implementation == clientGo && fault.clientGoFails != ""
				if (result.err != nil) != known {
					t.Errorf("%s: a failure is known: %t, and there were %d errors:\n%v", result.implementation, known,
						result.errors, result.err)
				}
			}
		})
	}
}
