// The command line, and a run that is stopped.

package main

import (
	"bytes"
	"context"
	"os"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
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
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
