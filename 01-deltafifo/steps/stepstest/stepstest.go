// Package stepstest tests a chapter's steps against their expected outputs.
package stepstest

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"example.com/informer/01-deltafifo/steps"
)

var update = flag.Bool("update", false, "write what the steps print to testdata/STEP.txt instead of comparing")

// Run runs every step of the chapter as a parallel subtest and compares its
// output with testdata/STEP.txt, the file that the book shows. It also fails
// for a file there that belongs to no step.
func Run(t *testing.T, c steps.Chapter) {
	want := map[string]bool{}
	for _, step := range c.Steps {
		file := filepath.Join("testdata", step.Name+".txt")
		want[file] = true
		t.Run(step.Name, func(t *testing.T) {
			t.Parallel()
			var got bytes.Buffer
			if err := step.Run(t.Context(), &got); err != nil {
				t.Fatalf("%v\nprinted so far:\n%s", err, &got)
			}
			compare(t, file, got.String())
		})
	}
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !want[file] {
			t.Errorf("%s is the output of no step: remove it", file)
		}
	}
}

func compare(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(file, []byte(steps.Collapse(got)), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := steps.Diff(string(want), got); diff != "" {
		t.Errorf("the output %s\nall of it:\n%s", diff, got)
	}
}
