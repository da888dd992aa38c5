package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// No timing is looked at: on a busy machine a quick run can say anything.
func TestAQuickRunWritesATableAndResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	var stdout bytes.Buffer
	must.Do(t, program.Run(t.Context(), []string{"-quick", "-o", folder}, &stdout, t.Output()))
	text := read(t, folder, "table.txt")
	expect.That(t, stdout.String() == text && strings.Contains(text, "client-go v0."),
		"printed\n%s\nand wrote\n%s", stdout.String(), text)
	got, err := tableOf(t, folder)
	expect.That(t, got == text && err == nil, "error %v; the results beside the table give\n%s", err, got)
	for _, row := range rows {
		expect.That(t, strings.Contains(text, "\n"+row.what+"  "), "no row %q", row.what)
	}
}

// The table in the book is that of the results beside it.
func TestTheBooksTable(t *testing.T) {
	if got, err := tableOf(t, "."); err != nil || got != read(t, ".", "table.txt") {
		t.Errorf("error %v; go run ./docs/lab/bench -table writes another table:\n%s", err, got)
	}
}

func tableOf(t *testing.T, folder string) (string, error) {
	t.Helper()
	results, err := report.Read(read(t, folder, "results.txt"))
	must.Do(t, err)
	return table(results)
}

func TestVerdicts(t *testing.T) {
	for ratio, want := range map[float64]string{2.5: "2.5 × yes", 2.4: "2.5 × not reached"} {
		got := strings.Join(row{wanted: 2.5}.verdict(ratio), " ")
		expect.That(t, got == want, "%v: got %q, want %q", ratio, got, want)
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	must.Do(t, err)
	return string(text)
}
