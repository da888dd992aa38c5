package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/docs/lab/bench/report"
)

// No timing is looked at: on a busy machine a quick run can say anything.
func TestAQuickRunWritesATableAndResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	var stdout bytes.Buffer
	if err := program.Run(t.Context(), []string{"-quick", "-o", folder}, &stdout, t.Output()); err != nil {
		t.Fatal(err)
	}
	results := read(t, folder, "results.txt")
	if n, want := strings.Count(results, "\nBenchmark"), 2*len(benchmarks); n != want {
		t.Errorf("%d results, want %d", n, want)
	}
	text := read(t, folder, "table.txt")
	if stdout.String() != text {
		t.Errorf("printed\n%s\nand wrote\n%s", stdout.String(), text)
	}
	if machine, _, _ := strings.Cut(text, "\n"); !strings.Contains(machine, "client-go v0.") {
		t.Errorf("the table begins with %q, want the machine and client-go's version", machine)
	}
	for _, row := range rows {
		if !strings.Contains(text, "\n"+row.What+"  ") {
			t.Errorf("no row %q", row.What)
		}
	}
}

func TestAStoppedRunWritesNothing(t *testing.T) {
	temp, folder := t.TempDir(), filepath.Join(t.TempDir(), "results")
	t.Setenv("TMPDIR", temp)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := program.Run(ctx, []string{"-quick", "-o", folder}, t.Output(), t.Output())
	if err == nil || err.Error() != "stopped, nothing was written" {
		t.Errorf("error %v", err)
	}
	if left, _ := os.ReadDir(temp); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := os.Stat(folder); !os.IsNotExist(err) {
		t.Errorf("%s: %v, want that it does not exist", folder, err)
	}
}

// The table in the book is that of the results beside it.
func TestTheBooksTable(t *testing.T) {
	const folder = "."
	results, err := report.Read(read(t, folder, "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table(results); err != nil || got != read(t, folder, "table.txt") {
		t.Errorf("error %v; go run ./docs/lab/bench -table writes another table:\n%s", err, got)
	}
}

func TestVerdicts(t *testing.T) {
	for ratio, want := range map[float64]string{2.5: "2.5 × yes", 2.4: "2.5 × not reached"} {
		if got := strings.Join(row{wanted: 2.5}.verdict(ratio), " "); got != want {
			t.Errorf("%v: got %q, want %q", ratio, got, want)
		}
	}
}

func read(t *testing.T, folder, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
