// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"net"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/steptest"
)

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	needCluster(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{
		busy.Addr().String(): "address already in use",
		"nonsense":           "missing port in address",
		"192.0.2.1:4000":     "cannot assign requested address",
	} {
		for name, args := range map[string][]string{
			"http":         {"-addr", address, "http"},
			"http -follow": {"-addr", address, "http", "-follow"},
		} {
			t.Run(name+" "+says, func(t *testing.T) {
				t.Parallel()
				steptest.WantExit(t, steptest.Command(t, args...), 1, "listen tcp", address, says, "-addr")
			})
		}
	}
}
