// The whole program, small, and its mistakes.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/bench/tool/tooltest"
	"example.com/informer/scripts/load/subject"
)

func TestMain(m *testing.M) {
	subject.Main()
	goleak.VerifyTestMain(m)
}

// No timing is looked at: on a busy machine a quick run can say anything.
func TestAQuickRunLosesNothingAndWritesATableAPictureAndResults(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	folder, profiles := filepath.Join(t.TempDir(), "results"), filepath.Join(t.TempDir(), "profiles")
	var stdout, stderr bytes.Buffer
	if code := program.Run(t.Context(), []string{"-quick", "-o", folder, "-profile", profiles}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d, want 0:\n%s", code, stderr.String())
	}
	text := tooltest.Read(t, folder, "table.txt")
	if stdout.String() != text {
		t.Errorf("printed\n%s\nand wrote\n%s", stdout.String(), text)
	}
	wantTable(t, text)
	tooltest.WantXML(t, tooltest.Read(t, folder, "load.svg"))
	p := quickPlan()
	if n, want := strings.Count(tooltest.Read(t, folder, "results.txt"), "\nBenchmark"), len(p.sizes)*2*(2*p.rounds+p.slices+2); n != want {
		t.Errorf("results.txt has %d results, want %d", n, want)
	}
	if files, _ := os.ReadDir(profiles); len(files) != len(p.sizes)*2*3 {
		t.Errorf("%d profiles, want three for each side and number of objects: %v", len(files), files)
	}
	tooltest.WantEmpty(t, temp)
}

// wantTable wants the machine in the first line, and below the columns' names,
// for each number of objects, a heading, what was delivered, that nothing was
// lost, and the other rows.
func wantTable(t *testing.T, text string) {
	t.Helper()
	if machine, _, _ := strings.Cut(text, "\n"); !strings.Contains(machine, "client-go v0.") || !strings.Contains(machine, " cores, ") {
		t.Errorf("the table begins with %q, want the machine and client-go's version", machine)
	}
	p := quickPlan()
	parts := strings.Split(strings.TrimSpace(text), "\n\n")[2:]
	if len(parts) != len(p.sizes) {
		t.Fatalf("%d parts for %d sizes:\n%s", len(parts), len(p.sizes), text)
	}
	for i, part := range parts {
		lines := strings.Split(part, "\n")
		rows := (&measured{plan: p}).rows()
		if len(lines) != 3+len(rows) {
			t.Fatalf("%d lines for %d rows:\n%s", len(lines)-3, len(rows), part)
		}
		events := strings.Fields(lines[1])
		if want := "1,000"; events[2] != want || events[3] != want { // 50 a second for 2 s, to 10 handlers
			t.Errorf("%q, want %s on both sides", lines[1], want)
		}
		if lost := strings.Join(strings.Fields(lines[2]), " "); lost != "objects lost 0 0 the same" {
			t.Errorf("%q, want none on both sides", lost)
		}
		for j, row := range rows {
			if !strings.HasPrefix(lines[3+j], row.what+"  ") {
				t.Errorf("part %d: line %q, want it to begin with %q", i, lines[3+j], row.what)
			}
		}
	}
}

// Wherever it is stopped, it leaves no file; and no process, or the control
// plane would not have been stopped without an error.
func TestAStoppedRunLeavesNothing(t *testing.T) {
	for _, at := range []string{"starting etcd", "sync, round 2 of 2", "1s of 2s"} {
		t.Run(at, func(t *testing.T) { tooltest.Stop(t, program, at, "-quick", "-sizes", "100") })
	}
}

func TestASubjectThatFails(t *testing.T) {
	_, _, err := newRival(t.Context(), subject.Settings{Factory: "ours", Kubeconfig: "no-such-file", Handlers: 1})
	if err == nil || !strings.Contains(err.Error(), "of ours failed") || !strings.Contains(err.Error(), "no-such-file: no such file") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error %v, want one line that says whose process, and why", err)
	}
}

func TestWrongUsage(t *testing.T) {
	tooltest.Refuse(t, program, "positive", "-rounds", "-1")
	tooltest.Refuse(t, program, "positive", "-rate", "-1")
	tooltest.Refuse(t, program, "-sizes 10,1: these are no growing numbers", "-sizes", "10,1")
	tooltest.Refuse(t, program, "no growing numbers", "-sizes", "few")
}
