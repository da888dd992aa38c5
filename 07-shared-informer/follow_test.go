package main

import (
	"regexp"
	"testing"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

func TestFollowServesUntilCtrlC(t *testing.T) {
	kubetest.Need(t)
	address := stepstest.Follow(t, chapter).Await(t, regexp.MustCompile(`http://127\.0\.0\.1:\d+`))
	if status, body := get(t, address+"/pods"); status != 200 || body != "[]" {
		t.Errorf("%d %s, want no pods", status, body)
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	kubetest.Need(t)
	for _, step := range chapter.Steps {
		stepstest.EndsOnCtrlC(t, step)
	}
}
