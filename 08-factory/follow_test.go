package main

import (
	"regexp"
	"testing"

	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
	"example.com/informer/03-reflector/flow"
)

func TestFollowServesUntilCtrlC(t *testing.T) {
	kubetest.Need(t)
	address := stepstest.Follow(t, chapter).Await(t, regexp.MustCompile(`http://127\.0\.0\.1:\d+`))
	must(t, flow.Until(t.Context(), "it is ready", func() bool {
		status, _, err := get(t.Context(), address+"/readyz")
		return err == nil && status == 200
	}))
	status, body, err := get(t.Context(), address+"/")
	must(t, err)
	if status != 200 || body != "[]\n" {
		t.Errorf("%d %s, want no pods", status, body)
	}
}

func TestStepsEndOnCtrlC(t *testing.T) {
	kubetest.Need(t)
	for _, step := range chapter.Steps {
		if step.Name == "controllers" {
			continue // it makes a control plane of its own, and is tested there
		}
		stepstest.EndsOnCtrlC(t, step)
	}
}
