package main

import (
	"net"
	"os"
	"regexp"
	"testing"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/step/steptest"
)

// needCluster is for tests of the program, which looks for the cluster itself.
func needCluster(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs a cluster")
	}
}

func TestFollowServesUntilCtrlC(t *testing.T) {
	for step, page := range map[string]string{"http": "/pods", "xray": "/state"} { // the URL of xray ends with /xray
		t.Run(step, func(t *testing.T) {
			needCluster(t)
			program := steptest.Command(t, step, "-follow", "-addr", "localhost:0")
			url := regexp.MustCompile(`http://127\.0\.0\.1:\d+(/xray$)?`)
			asked := false
			code := steptest.ReadLines(t, program, func(line string) {
				found := url.FindString(line)
				if found == "" || asked {
					return
				}
				asked = true
				status, body := get(t, found+page)
				expect.That(t, status == 200 && (step != "http" || body == "[]"), "%d %s", status, body)
				must.Do(t, program.Process.Signal(os.Interrupt))
			})
			expect.That(t, code == 0 && asked, "exit code %d, asked for a page: %t", code, asked)
		})
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, s := range chapter.Steps {
		steptest.EndsOnCtrlC(t, chapter, s.Name)
	}
}

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
