package main

import (
	"bytes"
	"os"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/01-deltafifo/steps"
	"example.com/informer/01-deltafifo/steps/stepstest"
	"example.com/informer/02-listwatch/kubetest"
)

// TestMain runs the chapter itself when a test, or a step, starts this binary
// again.
func TestMain(m *testing.M) {
	if os.Getenv(runChapter) != "" || os.Getenv(underWatch) != "" {
		main()
		return
	}
	if run, ok := children[os.Getenv(child)]; ok {
		run()
		return
	}
	goleak.VerifyTestMain(m)
}

func TestSteps(t *testing.T) {
	kubetest.Need(t)
	stepstest.Run(t, chapter)
}

// These steps are run also with -short.
func TestStepsThatNeedNoCluster(t *testing.T) {
	needs := map[string]bool{"known": true, "kind": true}
	for _, step := range chapter.Steps {
		if needs[step.Name] {
			continue
		}
		t.Run(step.Name, func(t *testing.T) {
			want, err := os.ReadFile("testdata/" + step.Name + ".txt")
			must(t, err)
			var got bytes.Buffer
			must(t, step.Run(t.Context(), &got))
			if diff := steps.Diff(string(want), got.String()); diff != "" {
				t.Errorf("the output %s", diff)
			}
		})
	}
}
