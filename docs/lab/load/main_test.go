package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/docs/lab/bench/report"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

type writerFunc func(text []byte) (int, error)

func (f writerFunc) Write(text []byte) (int, error) { return f(text) }

// A quick run loses nothing, and writes a table and results. Wherever it is stopped,
// it writes nothing, and leaves no process, or the control plane would not have been
// stopped without an error. No timing is looked at: on a busy machine a quick run can
// say anything.
func TestAQuickRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts a control plane")
	}
	for _, stopAt := range []string{"", "starting the control plane", "300/Sync/informer=ours#01", "300/Changes"} {
		t.Run(stopAt, func(t *testing.T) {
			temp, folder := t.TempDir(), filepath.Join(t.TempDir(), "results")
			t.Setenv("TMPDIR", temp)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			var stdout bytes.Buffer
			progress := writerFunc(func(text []byte) (int, error) {
				if stopAt != "" && strings.Contains(string(text), stopAt) {
					cancel()
				}
				return t.Output().Write(text)
			})
			err := program.Run(ctx, []string{"-quick", "-o", folder}, &stdout, progress)
			if stopAt == "" && err == nil {
				checkRun(t, folder, stdout.String())
			} else if stopAt == "" || err == nil || err.Error() != "stopped, nothing was written" {
				t.Errorf("error %v", err)
			} else if _, err := os.Stat(folder); !os.IsNotExist(err) {
				t.Errorf("%s: %v, want that it does not exist", folder, err)
			}
			left, err := os.ReadDir(temp)
			expect.That(t, len(left) <= 0 && err == nil, "left behind: %v, %v", left, err)
		})
	}
}

func checkRun(t *testing.T, folder, printed string) {
	results, text := read(t, folder)
	expect.That(t, text == printed && strings.Contains(text, "client-go v0."),
		"wrote\n%s\nand printed\n%s", text, printed)
	for _, name := range []string{"100/%s/informer=client-go", "100/%s/informer=ours", "300/%s/informer=ours"} {
		name = "Load/objects=" + name
		// 50 changes a second for 2 s, to 10 handlers
		events := results.Values(fmt.Sprintf(name, "Handlers"), "events")
		expect.That(t, len(events) == 1 && events[0] == 1000, "%s: %v events, want 1,000", name, events)
		received := results.Values(fmt.Sprintf(name, "Sync"), "received-B")
		expect.That(t, len(received) == 2 && received[0] >= 50*payload, "%s: %v bytes received to sync", name, received)
	}
}

// The table in the book is that of the results beside it.
func TestTheBooksTable(t *testing.T) {
	results, want := read(t, ".")
	if got, err := table(results); err != nil || got != want {
		t.Errorf("error %v; go run ./docs/lab/load -table writes another table:\n%s", err, got)
	}
	results.Values("Load/objects=1000/Handlers/informer=ours", "lost")[0] = 1
	if got, err := table(results); err == nil || !strings.HasPrefix(err.Error(), "1 objects were lost") || got == "" {
		t.Errorf("one was lost: error %v, table\n%s", err, got)
	}
}

func read(t *testing.T, folder string) (results *report.Results, table string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "results.txt"))
	must.Do(t, err)
	results, err = report.Read(string(text))
	must.Do(t, err)
	text, err = os.ReadFile(filepath.Join(folder, "table.txt"))
	must.Do(t, err)
	return results, string(text)
}

func TestVerdicts(t *testing.T) {
	for _, test := range []struct {
		ratio  float64
		ratios []float64
		want   string
	}{
		{3.5, []float64{2, 3, 4, 0.9}, "better"},
		{1.5, []float64{2, 3, 0.8, 0.9}, "noise"},
		{0.4, []float64{0.5, 0.25}, "worse"},
		{0.985, []float64{0.99, 0.98}, "the same"},
	} {
		got := verdict(report.Comparison{Ratio: test.ratio, Ratios: test.ratios})
		expect.That(t, got == test.want, "%v: %s, want %s", test.ratios, got, test.want)
	}
}
