// The command line, a run that is stopped, what is counted, and the table.

package main

import (
	"bytes"
	"context"
	"os"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"-only unicorn: no fault has such a name": {"-only", "unicorn"},
		"-only: error parsing regexp":             {"-only", "["},
	} {
		_, err := parse(args)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%q: error %v, want %q", args, err, want)
	}
}

// stopAt stops a run as soon as its progress contains a text.
type stopAt struct {
	bytes.Buffer
	text string
	stop func()
}

func (s *stopAt) Write(text []byte) (int, error) {
	if strings.Contains(string(text), s.text) {
		s.stop()
	}
	return s.Buffer.Write(text)
}

func TestAStoppedSoakLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	o, err := parse(nil)
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var stdout bytes.Buffer
	err = soak(ctx, o, &stdout, &stopAt{text: "starting the control plane", stop: cancel})
	expect.That(t, err != nil && stdout.Len() <= 0, "error %v, printed %q", err, stdout.String())
	left, err := os.ReadDir(temp)
	expect.That(t, len(left) <= 0 && err == nil, "left behind: %v, %v", left, err)
}

// Including those that one of its goroutines has started.
func TestGoroutinesAreCountedByInstance(t *testing.T) {
	over, ended := make(chan struct{}), make(chan struct{})
	pprof.Do(t.Context(), pprof.Labels(label, "one"), func(context.Context) {
		go func() {
			go func() { <-over; close(ended) }()
			<-over
		}()
	})
	r := &runner{scale: scale{timeout: time.Minute}}
	want := func(instance string, n int) {
		t.Helper()
		var got int
		err := r.until(t.Context(), "the count is right", func() bool {
			got = usage.Goroutines(label, instance)
			return got == n
		})
		expect.That(t, err == nil, "%s has %d goroutines, want %d", instance, got, n)
	}
	want("one", 2)
	want("on", 0)
	close(over)
	<-ended
	want("one", 0)
}

func TestOpenFilesAreCounted(t *testing.T) {
	expect.That(t, openFiles() != 0, "none")
}

func TestTable(t *testing.T) {
	var runs []results
	add := func(name string, own, theirs time.Duration, errs int) {
		runs = append(runs, results{
			ours:     {fault: name, implementation: ours, events: 1000, recovery: own},
			clientGo: {fault: name, implementation: clientGo, events: 900, recovery: theirs, errors: errs},
		})
	}
	add("reset", 30*time.Millisecond, time.Second, 0)
	add("nameless", 10*time.Millisecond, 10*time.Millisecond, 2)
	add("reset", 10*time.Millisecond, 3*time.Second, 0)
	add("reset", 2010*time.Millisecond, 2*time.Second, 0)
	add("nameless", 2*time.Second, never, 2)
	add("nameless", 2*time.Second, time.Second, 2)
	got := strings.Fields(table([]fault{{name: "reset"}, {name: "not run"}, {name: "nameless"}}, runs))
	want := strings.Fields(`fault runs events errors recovery, median worst first
		reset 3 2,700 / 3,000 0 / 0 2.00 / 0.03 3.00 / 2.01 0 / 2
		nameless 3 2,700 / 3,000 6 / 0 1.00 / 2.00 never / 2.00 1 / 1`)
	expect.That(t, strings.Join(got, " ") == strings.Join(want, " "), "got  %s\nwant %s", got, want)
}
