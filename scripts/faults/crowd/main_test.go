// The whole program, small, and its mistakes.

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"go.uber.org/goleak"

	"example.com/informer/scripts/bench/tool/tooltest"
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
	if code := program.Run(t.Context(), []string{"-duration", "1s", "-objects", "60", "-rate", "200", "-o", file}, &stdout, &stderr); code != 0 {
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
	tooltest.WantEmpty(t, temp)
}

// It leaves no file; and no process, or the control plane would not have been
// stopped without an error.
func TestAStoppedRunLeavesNothing(t *testing.T) {
	tooltest.Stop(t, program, "starting etcd", "-duration", "1s", "-objects", "20")
}

func TestWrongUsage(t *testing.T) {
	tooltest.Refuse(t, program, "a duration and numbers are positive", "-rate", "0")
	tooltest.Refuse(t, program, "-o no/such/folder/crowd.txt: ", "-o", "no/such/folder/crowd.txt")
}
