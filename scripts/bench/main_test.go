// The whole program, small, and its mistakes.

package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/bench/tool/tooltest"
)

// No timing is looked at: on a busy machine a quick run can say anything.
func TestAQuickRunWritesATableAPictureAndResults(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "results")
	var stdout, stderr bytes.Buffer
	if code := program.Run(t.Context(), []string{"-quick", "-o", folder}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, want 0:\n%s", code, stderr.String())
	}
	text := tooltest.Read(t, folder, "table.txt")
	if stdout.String() != text {
		t.Errorf("printed\n%s\nand wrote\n%s", stdout.String(), text)
	}
	wantTable(t, text)
	tooltest.WantXML(t, tooltest.Read(t, folder, "cost.svg"))
	p, err := parse(tooltest.Read(t, folder, "results.txt"))
	if want := 2 * len(quickPlan().steps); err != nil || len(p.results) != want {
		t.Errorf("results.txt has %d results, error %v; want %d", len(p.results), err, want)
	}
}

// wantTable wants the machine in the first line, and below the columns' names a
// line for each row of the plan.
func wantTable(t *testing.T, text string) {
	t.Helper()
	head, body, _ := strings.Cut(text, "\n\n")
	if machine, _, _ := strings.Cut(head, "\n"); !strings.Contains(machine, "client-go v0.") || !strings.Contains(machine, " cores, ") {
		t.Errorf("the table begins with %q, want the machine and client-go's version", machine)
	}
	lines := strings.Split(strings.TrimSpace(body), "\n")
	rows := quickPlan().rows
	if len(lines) != len(rows)+1 {
		t.Fatalf("%d lines for %d rows:\n%s", len(lines)-1, len(rows), body)
	}
	for i, row := range rows {
		line := lines[i+1]
		if !strings.HasPrefix(line, row.what+"  ") || !strings.HasSuffix(line, "  yes") && !strings.HasSuffix(line, "  not reached") {
			t.Errorf("line %q, want it to begin with %q and to end with yes or not reached", line, row.what)
		}
	}
}

func TestAStoppedRunWritesNothing(t *testing.T) { tooltest.Stop(t, program, "", "-quick") }

func TestWrongUsage(t *testing.T) {
	tooltest.Refuse(t, program, "-rounds: there must be one", "-rounds", "0")
}
