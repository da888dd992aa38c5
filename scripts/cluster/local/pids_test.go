// Tests that exactly the recorded processes are stopped.

package local

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// spawn starts a shell script and returns its record; said, if not "", is a line
// to wait for. The process is gone when the test ends.
func spawn(t *testing.T, script, said string) record {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", script)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	if said != "" {
		buf := make([]byte, len(said))
		if _, err := out.Read(buf); err != nil || string(buf) != said {
			t.Fatalf("the script said %q, %v", buf, err)
		}
	}
	started, err := startTime(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	return record{Component: Node, PID: cmd.Process.Pid, Started: started}
}

// alive reports whether a process runs.
func alive(pid int) bool {
	_, err := startTime(pid)
	return !errors.Is(err, os.ErrProcessDone)
}

func TestRecycledPidIsLeftAlone(t *testing.T) {
	dir := t.TempDir()
	bystander := spawn(t, "exec sleep 1000", "")
	recorded := bystander
	recorded.Started = "some other time"
	if err := writeRecords(dir, []record{recorded}); err != nil {
		t.Fatal(err)
	}
	var progress bytes.Buffer
	if err := StopRecorded(dir, &progress); err != nil {
		t.Fatal(err)
	}
	if !bystander.running() {
		t.Error("a process that was never ours was stopped")
	}
	if !strings.Contains(progress.String(), "left alone") {
		t.Errorf("not a word of it: %q", progress.String())
	}
	if err := recorded.signal(syscall.SIGKILL); err == nil || !bystander.running() {
		t.Errorf("signal reached another process, or says so: %v", err)
	}
	if err := Look(t.Context(), dir, io.Discard); !errors.Is(err, ErrBroken) {
		t.Errorf("afterwards: %v", err)
	}
}

func TestStubbornProcessIsKilled(t *testing.T) {
	dir := t.TempDir()
	stubborn := spawn(t, `trap "" TERM; echo deaf; while :; do sleep 0.1; done`, "deaf")
	frozen := spawn(t, "exec sleep 1000", "")
	if err := frozen.signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := writeRecords(dir, []record{stubborn, frozen}); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	if err := StopRecorded(dir, os.Stderr); err != nil {
		t.Fatal(err)
	}
	if stubborn.running() || frozen.running() {
		t.Error("still running")
	}
	if took := time.Since(begin); took < grace {
		t.Errorf("killed after %s, before the grace was over", took)
	}
}

func TestEndedButNotReapedIsNotRunning(t *testing.T) {
	r := spawn(t, "exec sleep 1000", "")
	if err := r.signal(syscall.SIGKILL); err != nil { // and nobody waits for it
		t.Fatal(err)
	}
	deadline := time.Now().Add(10 * time.Second)
	for r.running() {
		if time.Now().After(deadline) {
			t.Fatal("a process that has ended counts as running")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestDamagedPidsFile(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(pidsFile(dir), []byte("[{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := StopRecorded(dir, os.Stderr); err == nil || !strings.Contains(err.Error(), pidsFile(dir)) {
		t.Errorf("got %v", err)
	}
	if err := Look(t.Context(), dir, io.Discard); err == nil || errors.Is(err, ErrBroken) {
		t.Error("a damaged file goes unnoticed")
	}
}
