// Tests of exec, which makes a cluster for one program.

package main

import (
	"bytes"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/informer/scripts/cluster/local"
	"example.com/informer/scripts/harness/must"
)

// Two commands at the same time have a cluster each, and both clusters are removed.
func TestExec(t *testing.T) {
	tree := newTree(t)
	const code = 7
	var commands [2]*exec.Cmd
	var stdout [2]bytes.Buffer
	for i := range commands {
		commands[i] = tree.command("exec", "sh", "-c", `echo "on $KUBECONFIG"; exit 7`)
		commands[i].Stdout = &stdout[i]
		must.NoError(t, commands[i].Start())
	}
	for i, cmd := range commands {
		err := cmd.Wait()
		if got := cmd.ProcessState.ExitCode(); got != code {
			t.Errorf("command %d: exit code %d (%v), want %d", i, got, err, code)
		}
		if want := "on " + tree.path("exec-"); !strings.HasPrefix(stdout[i].String(), want) {
			t.Errorf("command %d printed %q, want %q at the beginning", i, &stdout[i], want)
		}
	}
	if stdout[0].String() == stdout[1].String() {
		t.Errorf("both commands printed %q, want two different clusters", &stdout[0])
	}
	tree.wantNothingLeft()
}

// wantNothingLeft wants no files of a cluster that exec has made, and waits until no process of it
// is left.
func (t tree) wantNothingLeft() {
	t.Helper()
	left, err := filepath.Glob(t.path("exec-*"))
	must.NoError(t, err)
	if len(left) > 0 {
		t.Errorf("folders of clusters are left: %q, want none", left)
	}
	must.Until(t, "its processes are gone", func() bool { return len(local.Processes(t.root)) == 0 })
}

// The command is interrupted at any time: while the cluster starts, while the program runs, or
// while the cluster is removed. If the command is killed, the cluster is removed a moment later.
func TestExecIsInterrupted(t *testing.T) {
	tree := newTree(t)
	signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGKILL}
	for i := range 10 {
		signal := signals[i%len(signals)]
		cmd := tree.command("exec", "sleep", "1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		must.NoError(t, cmd.Start())
		after := rand.N(10 * time.Second)
		timer := time.AfterFunc(after, func() { _ = cmd.Process.Signal(signal) })
		err := cmd.Wait()
		timer.Stop()
		t.Logf("%v after %v: %v", signal, after, err)
		if signal == syscall.SIGKILL {
			must.Until(t, "its folder is gone", func() bool {
				left, err := filepath.Glob(tree.path("exec-*"))
				return len(left) == 0 && err == nil
			})
		}
		tree.wantNothingLeft()
	}
}
