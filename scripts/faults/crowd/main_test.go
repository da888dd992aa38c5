// The whole program, small, and its mistakes.

package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	play()
	goleak.VerifyTestMain(m)
}

// A row has a source, how often it was asked, and how often that went wrong.
var row = regexp.MustCompile(`(?m)^  (?:pages of 0[78]|API server(?:, any version)?) +([\d,]+) .* ([\d,]+)$`)

// No time is looked at: on a busy machine it can be anything.
func TestNoAnswerIsWrong(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file := filepath.Join(t.TempDir(), "crowd.txt")
	var stdout, stderr bytes.Buffer
	if code := run(t.Context(), []string{"-duration", "1s", "-objects", "60", "-rate", "200", "-o", file}, &stdout, &stderr); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, stderr.String())
	}
	t.Logf("\n%s", stdout.String())
	written, err := os.ReadFile(file)
	if err != nil || string(written) != stdout.String() {
		t.Errorf("printed\n%s\nand wrote\n%s(error %v)", stdout.String(), written, err)
	}
	rows := row.FindAllStringSubmatch(stdout.String(), -1)
	if len(rows) != 4+3+1+4+4 {
		t.Errorf("%d rows", len(rows))
	}
	for _, row := range rows {
		if reads, wrong := row[1], row[2]; reads == "0" || wrong != "0" {
			t.Errorf("want reads, and none that is wrong: %s", row[0])
		}
	}
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A stopper ends a run as soon as its progress comes to some text.
type stopper struct {
	bytes.Buffer
	at   string
	stop func()
}

func (s *stopper) Write(p []byte) (int, error) {
	n, err := s.Buffer.Write(p)
	if strings.Contains(s.String(), s.at) {
		s.stop()
	}
	return n, err
}

// It leaves no file; and no process, or the control plane would not have been
// stopped without an error.
func TestAStoppedRunLeavesNothing(t *testing.T) {
	temp := t.TempDir()
	t.Setenv("TMPDIR", temp)
	file := filepath.Join(t.TempDir(), "crowd.txt")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	stderr := &stopper{at: "starting etcd", stop: cancel}
	var stdout bytes.Buffer
	if code := run(ctx, []string{"-duration", "1s", "-objects", "20", "-o", file}, &stdout, stderr); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
	if want := "crowd: stopped, nothing was written\n"; !strings.HasSuffix(stderr.String(), want) || stdout.Len() > 0 {
		t.Errorf("printed %q, and said\n%s", stdout.String(), stderr.String())
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
	if left, err := os.ReadDir(temp); len(left) > 0 || err != nil {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestWrongUsage(t *testing.T) {
	for want, args := range map[string][]string{
		"crowd takes no arguments":           {"now"},
		"a duration and numbers are posit":   {"-rate", "0"},
		"-o no/such/folder/crowd.txt: ":      {"-o", "no/such/folder/crowd.txt"},
		"flag provided but not defined: -no": {"-no"},
	} {
		var stdout, stderr bytes.Buffer
		if code := run(t.Context(), args, &stdout, &stderr); code != 2 || !strings.Contains(stderr.String(), want) {
			t.Errorf("%q: exit code %d, said\n%s", args, code, stderr.String())
		}
	}
}
