package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/docs/lab/bench/report"
)

func TestMain(m *testing.M) {
	serveClient()
	goleak.VerifyTestMain(m)
}

// No timing is looked at: on a busy machine a quick run can say anything.
func TestAQuickRunLosesNothingAndWritesATableAndResults(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	temp, folder := t.TempDir(), filepath.Join(t.TempDir(), "results")
	t.Setenv("TMPDIR", temp)
	var stdout bytes.Buffer
	if err := program.Run(t.Context(), []string{"-quick", "-o", folder}, &stdout, t.Output()); err != nil {
		t.Fatal(err)
	}
	p := quickPlan
	text := read(t, folder, "results.txt")
	if n, want := strings.Count(text, "\nBenchmark"), len(p.sizes)*(2*(2*p.rounds+p.slices+2)+1); n != want {
		t.Errorf("%d results, want %d", n, want)
	}
	results, err := report.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"100/informer=client-go", "100/informer=ours", "300/informer=client-go", "300/informer=ours",
	} {
		// 50 changes a second for 2 s, to 10 handlers
		if events := results.Values("Handlers/objects="+name, "events"); len(events) != 1 || events[0] != 1000 {
			t.Errorf("objects=%s: %v events, want 1,000", name, events)
		}
		if received := results.Values("Sync/objects="+name, "received-B"); len(received) != 2 ||
			received[0] < 50*payload {
			t.Errorf("objects=%s: %v bytes received to sync", name, received)
		}
	}
	if got := read(t, folder, "table.txt"); got != stdout.String() || !strings.Contains(got, "client-go v0.") {
		t.Errorf("wrote\n%s\nand printed\n%s", got, stdout.String())
	}
	wantEmpty(t, temp)
}

// A stoppingWriter ends a run as soon as its progress comes to a text.
type stoppingWriter struct {
	bytes.Buffer
	text string
	stop func()
}

func (s *stoppingWriter) Write(text []byte) (int, error) {
	if strings.Contains(string(text), s.text) {
		s.stop()
	}
	return s.Buffer.Write(text)
}

// Wherever it is stopped, it leaves no file; and no process, or the control
// plane would not have been stopped without an error.
func TestAStoppedRunLeavesNothing(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	for _, text := range []string{"starting the control plane", "sync, round 2 of 2", "slice 2 of 2"} {
		t.Run(text, func(t *testing.T) {
			temp, folder := t.TempDir(), filepath.Join(t.TempDir(), "results")
			t.Setenv("TMPDIR", temp)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			progress := &stoppingWriter{text: text, stop: cancel}
			err := program.Run(ctx, []string{"-quick", "-o", folder}, t.Output(), progress)
			if err == nil || err.Error() != "stopped, nothing was written" {
				t.Errorf("error %v, after\n%s", err, progress.String())
			}
			if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("%s: %v, want that it does not exist", folder, err)
			}
			wantEmpty(t, temp)
		})
	}
}

func wantEmpty(t *testing.T, folder string) {
	t.Helper()
	if left, err := os.ReadDir(folder); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestAClientThatFails(t *testing.T) {
	p, err := startProcess(t.Context(), report.Ours)
	if err != nil {
		t.Fatal(err)
	}
	for settings, want := range map[Settings]string{
		{Factory: report.Ours, Kubeconfig: "no-such-file"}: "process of ours: Sync: stat no-such-file: no such file",
		{Factory: "another", Kubeconfig: kubeconfig(t)}:    `there is no factory "another"`,
	} {
		if _, err := p.call("Sync", settings); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
}

// kubeconfig is one that nobody is asked for anything with.
func kubeconfig(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}],
		"contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}`
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// The table in the book is that of the results beside it.
func TestTheBooksTable(t *testing.T) {
	const folder = "."
	results, err := report.Read(read(t, folder, "results.txt"))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := table(results); err != nil || got != read(t, folder, "table.txt") {
		t.Errorf("error %v; go run ./docs/lab/load -table writes another table:\n%s", err, got)
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
