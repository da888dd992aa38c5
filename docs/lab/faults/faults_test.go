// Every fault once, small.

package main

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"example.com/informer/docs/lab/faults/catalog"
	"example.com/informer/docs/lab/faults/scenario"
)

func TestMain(m *testing.M) {
	setUp()
	goleak.VerifyTestMain(m)
}

var smallScale = scenario.Scale{
	Hold: 500 * time.Millisecond, Freeze: 2 * time.Second, SlowList: 3 * time.Second,
	Deletes: 500, ShortTimeouts: true, Timeout: time.Minute,
}

func TestFaults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	const seed, rate = 20240529, 300
	r, err := newRunner(t.Context(), seed, rate, smallScale, os.Stderr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	}()
	var broken error // the environment: no further fault makes sense
	for _, fault := range catalog.All() {
		if broken != nil {
			return
		}
		t.Run(fault.Name, func(t *testing.T) {
			var both results
			if both, broken = r.run(t.Context(), fault); broken != nil {
				t.Fatal(broken)
			}
			for _, result := range both {
				printResult(t.Output(), result)
				if result.Err != nil && result.KnownFailure == "" {
					t.Errorf("%s: %d errors:\n%v", result.Implementation, result.Errors, result.Err)
				}
				if result.Err == nil && result.KnownFailure != "" {
					t.Errorf("%s did not fail, but a failure is known: %s", result.Implementation, result.KnownFailure)
				}
			}
		})
	}
}
