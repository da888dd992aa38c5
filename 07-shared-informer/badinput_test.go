// What the chapter says when it cannot do its work: one or two lines, and
// what to do next.

package main

import (
	"net"
	"testing"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

func TestWithoutACluster(t *testing.T) {
	for _, args := range [][]string{{"informer"}, {"-addr", "nonsense", "http"}, {"-follow"}} {
		stepstest.WantExit(t, stepstest.Outside(t, args...), 1, "no cluster chosen", "scripts/local-up.sh",
			"-kubeconfig")
	}
	stepstest.WantExit(t, stepstest.Outside(t, "informers"), 2, `no step "informers"`, "informer, index, http,")
}

func TestAnAddressThatCannotBeListenedOn(t *testing.T) {
	kubetest.Need(t)
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { busy.Close() }) // when the parallel tests are over
	for address, says := range map[string]string{
		busy.Addr().String(): "address already in use",
		"nonsense":           "missing port in address",
		"192.0.2.1:4000":     "cannot assign requested address",
	} {
		for _, what := range []string{"http", "-follow"} {
			t.Run(what+" "+says, func(t *testing.T) {
				t.Parallel()
				stepstest.WantExit(t, stepstest.Command(t, "-addr", address, what), 1, "listen tcp", address, says,
					"-addr")
			})
		}
	}
}
