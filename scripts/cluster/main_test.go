// Tests of the command line. Most tests of this package start real local clusters; a test that
// needs kind has a shell script in the place of docker.

package main

import (
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	must.Program(main)
	goleak.VerifyTestMain(m)
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{nil, {"jump"}, {"up", "sideways"}, {"exec"}, {"down", "kind"}} {
		code, err := run(t.Context(), args)
		if code != exitUsage || err != nil {
			t.Errorf("run(%q) = %d, %v; want %d, nil", args, code, err, exitUsage)
		}
	}
}
