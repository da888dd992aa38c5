package main

import (
	"os"
	"regexp"
	"testing"

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
	needCluster(t)
	program := steptest.Command(t, "http", "-follow")
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+`)
	asked := false
	code := steptest.ReadLines(t, program, func(line string) {
		found := url.FindString(line)
		if found == "" || asked {
			return
		}
		asked = true
		if status, body := get(t, found+"/pods"); status != 200 || body != "[]" {
			t.Errorf("%d %s, want no pods", status, body)
		}
		must.Do(t, program.Process.Signal(os.Interrupt))
	})
	if code != 0 || !asked {
		t.Errorf("exit code %d, asked for a page: %t", code, asked)
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	for _, s := range chapter.Steps {
		steptest.EndsOnCtrlC(t, chapter, s)
	}
}
