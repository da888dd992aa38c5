package main

import (
	"net/http"
	"os"
	"regexp"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/harness/must"
)

func TestMain(m *testing.M) {
	must.Program(main)
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) { must.Play(t, program) }

func TestStepsEndOnCtrlC(t *testing.T) { must.EndOnCtrlC(t, program, "xray") }

// scripts/xray.sh runs the program like this.
func TestFollowServesUntilCtrlC(t *testing.T) {
	if testing.Short() {
		t.Skip("needs a cluster")
	}
	running := must.Command(t, "xray", "-follow", "-addr", "localhost:0")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/xray$`)
	asked := false
	code := must.ReadLines(t, running, func(line string) {
		found := url.FindString(line)
		if found == "" || asked {
			return
		}
		asked = true
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		response, err := client.Get(found + "/state")
		must.NoError(t, err)
		response.Body.Close()
		if response.StatusCode != http.StatusOK {
			t.Errorf("GET %s/state: status %d, want 200", found, response.StatusCode)
		}
		must.NoError(t, running.Process.Signal(os.Interrupt))
	})
	if code != 0 {
		t.Errorf("exit code %d after Ctrl-C, want 0", code)
	}
	if !asked {
		t.Errorf("the program printed no URL %s", url)
	}
}
