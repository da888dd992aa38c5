// A quick run, and the table in the book.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/harness/must"
)

// The test does not look at the values: on a busy machine, a quick run can measure anything.
func TestAQuickRunWritesATableAndResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	var stdout bytes.Buffer
	must.NoError(t, program.Run(t.Context(), []string{"-quick", "-o", folder}, &stdout, t.Output()))
	text := read(t, folder, "table.txt")
	if diff := cmp.Diff(text, stdout.String()); diff != "" {
		t.Errorf("the output differs from table.txt (-table.txt +output):\n%s", diff)
	}
	if diff := cmp.Diff(text, tableOf(t, folder)); diff != "" {
		t.Errorf("the table of results.txt differs from table.txt (-table.txt +results.txt):\n%s", diff)
	}
	if want := "client-go v0."; !strings.Contains(text, want) {
		t.Errorf("the table has no %q:\n%s", want, text)
	}
	for _, row := range rows {
		if !strings.Contains(text, "\n"+row.name+"  ") {
			t.Errorf("the table has no row %q:\n%s", row.name, text)
		}
	}
}

// The table in the book is that of the results in the same folder.
func TestTheBooksTable(t *testing.T) {
	if diff := cmp.Diff(read(t, ".", "table.txt"), tableOf(t, ".")); diff != "" {
		t.Errorf("go run ./docs/lab/bench -table would change table.txt (-table.txt +new):\n%s", diff)
	}
}

// tableOf returns the table of the results in a folder.
func tableOf(t *testing.T, folder string) string {
	t.Helper()
	results, err := report.Read(read(t, folder, "results.txt"))
	must.NoError(t, err)
	text, err := table(results)
	must.NoError(t, err)
	return text
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	must.NoError(t, err)
	return string(text)
}
