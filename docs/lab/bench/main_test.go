// The table in the book, and a quick run.

package main

import (
	"os"
	"os/exec"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/informer/docs/lab/report"
	"example.com/informer/scripts/harness/must"
)

// Each row has its results. The test does not look at the values: each benchmark runs once, some with
// fewer pods than their names say.
func TestEachRowIsMeasured(t *testing.T) {
	output, err := exec.CommandContext(t.Context(), os.Args[0],
		"-test.short", "-test.run=^$", "-test.bench=.", "-test.benchtime=1x").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	results, err := report.Read(string(output))
	must.NoError(t, err)
	if _, err := table(results); err != nil {
		t.Error(err)
	}
}

// The table in the book is that of the results in this folder.
func TestTheBooksTable(t *testing.T) {
	text, err := os.ReadFile("results.txt")
	must.NoError(t, err)
	results, err := report.Read(string(text))
	must.NoError(t, err)
	got, err := table(results)
	must.NoError(t, err)
	want, err := os.ReadFile("table.txt")
	must.NoError(t, err)
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("go run ./docs/lab/bench gives another table than table.txt (-table.txt +new):\n%s", diff)
	}
}
