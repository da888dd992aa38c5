// Package stepstest tests a chapter: its steps against their expected outputs,
// at a terminal where somebody presses Ctrl-C, and as a program.
package stepstest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"example.com/informer/01-deltafifo/steps"
)

var update = flag.Bool("update", false, "write what the steps print to testdata/STEP.txt instead of comparing")

// Run runs every step of the chapter as a parallel subtest and compares its
// output with testdata/STEP.txt, the file that the book shows. It also fails
// for a file there that belongs to no step.
func Run(t *testing.T, c steps.Chapter) {
	each(t, c, func(t *testing.T, step steps.Step) {
		t.Parallel()
		Check(t, step)
	})
}

// RunInFakeTime is Run for steps that take their time and talk to nobody: each
// runs in a bubble of testing/synctest, where waiting takes no time, and they
// run one after the other.
func RunInFakeTime(t *testing.T, c steps.Chapter) {
	each(t, c, func(t *testing.T, step steps.Step) {
		synctest.Test(t, func(t *testing.T) { Check(t, step) })
	})
}

func each(t *testing.T, c steps.Chapter, test func(*testing.T, steps.Step)) {
	want := map[string]bool{}
	for _, step := range c.Steps {
		want[expected(step)] = true
		t.Run(step.Name, func(t *testing.T) { test(t, step) })
	}
	files, err := filepath.Glob("testdata/*.txt")
	must(t, err)
	for _, file := range files {
		if !want[file] {
			t.Errorf("%s is the output of no step: remove it", file)
		}
	}
}

// Check runs one step and compares its output with testdata/STEP.txt.
func Check(t *testing.T, step steps.Step) {
	t.Helper()
	if !*update {
		must(t, step.Check(t.Context(), expected(step), t.Output()))
		return
	}
	var got bytes.Buffer
	must(t, step.Run(t.Context(), &got))
	must(t, os.WriteFile(expected(step), []byte(steps.Collapse(got.String())), 0o644))
}

func expected(step steps.Step) string { return filepath.Join("testdata", step.Name+".txt") }
