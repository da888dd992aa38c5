// Tests of the command line, of a run that is stopped, of the counts of goroutines and files, and
// of the table.

package main

import (
	"bytes"
	"context"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-only unicorn: no fault has such a name": {"-only", "unicorn"},
		"-only: error parsing regexp":             {"-only", "["},
	} {
		_, err := parse(args)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parse(%q) = %v, want an error with %q", args, err, want)
		}
	}
}

// stopWriter is an io.Writer that calls stop when somebody writes a text to it.
type stopWriter struct {
	bytes.Buffer
	text string
	stop func()
}

func (s *stopWriter) Write(text []byte) (int, error) {
	if strings.Contains(string(text), s.text) {
		s.stop()
	}
	return s.Buffer.Write(text)
}

func TestAStoppedSoakLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	o, err := parse(nil)
	must.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	if err := soak(ctx, o, &stdout, &stopWriter{text: "starting the control plane", stop: cancel}); err == nil {
		t.Error("soak() = nil, want an error")
	}
	if stdout.Len() > 0 {
		t.Errorf("soak() printed %q, want nothing", stdout.String())
	}
	left, err := os.ReadDir(temp)
	must.NoError(t, err)
	if len(left) > 0 {
		t.Errorf("soak() left these files: %v", left)
	}
}

// The count includes goroutines that a goroutine of the instance has started.
func TestGoroutinesAreCountedByInstance(t *testing.T) {
	over, ended := make(chan struct{}), make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels(label, "one"), func(context.Context) {
		go func() {
			go func() {
				<-over
				close(ended)
			}()
			<-over
		}()
	})
	r := &runner{scale: scale{timeout: time.Minute}}
	want := func(instance string, n int) {
		t.Helper()
		var got int
		err := r.waitUntil(t.Context(), "the count is right", func() bool {
			got = usage.Goroutines(label, instance)
			return got == n
		})
		if err != nil {
			t.Errorf("Goroutines(%q) = %d, want %d: %v", instance, got, n, err)
		}
	}
	want("one", 2)
	want("on", 0)
	close(over)
	<-ended
	want("one", 0)
}

func TestOpenFilesAreCounted(t *testing.T) {
	if got := openFiles(); got == 0 {
		t.Errorf("openFiles() = %d, want more: the standard streams are open", got)
	}
}

func TestTable(t *testing.T) {
	var runs []results
	add := func(name string, ourRecovery, theirRecovery time.Duration, theirErrors int) {
		runs = append(runs, results{
			ours: {fault: name, implementation: ours, events: 1000, recovery: ourRecovery},
			clientGo: {fault: name, implementation: clientGo, events: 900, recovery: theirRecovery,
				errors: theirErrors},
		})
	}
	add("reset", 30*time.Millisecond, time.Second, 0)
	add("nameless", 10*time.Millisecond, 10*time.Millisecond, 2)
	add("reset", 10*time.Millisecond, 3*time.Second, 0)
	add("reset", 2010*time.Millisecond, 2*time.Second, 0)
	add("nameless", 2*time.Second, never, 2)
	add("nameless", 2*time.Second, time.Second, 2)
	got := table([]entry{{name: "reset"}, {name: "not run"}, {name: "nameless"}}, runs)
	want := `fault     runs  events         errors  recovery, median  worst         first
reset     3     2,700 / 3,000  0 / 0   2.00 / 0.03       3.00 / 2.01   0 / 2
nameless  3     2,700 / 3,000  6 / 0   1.00 / 2.00       never / 2.00  1 / 1
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("table() differs (-want +got):\n%s", diff)
	}
}
