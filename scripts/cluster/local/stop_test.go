// Tests of stopping when something is not as usual: Stop neither hangs nor ends
// a process that may not be ours.

package local

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// withChild is a control plane whose etcd is a child that only sleeps.
func withChild(t *testing.T) (*ControlPlane, *process) {
	t.Helper()
	cp := &ControlPlane{
		opts:      Options{Dir: t.TempDir(), Progress: io.Discard},
		processes: map[Component]*process{},
		binaries:  binaries{assets: assets(t, "exec sleep 1000", "")},
	}
	if err := clean(cp.opts.Dir); err != nil {
		t.Fatal(err)
	}
	if err := cp.launch(Etcd); err != nil {
		t.Fatal(err)
	}
	return cp, cp.processes[Etcd]
}

func TestChildIsStoppedWithoutItsStartTime(t *testing.T) {
	for name, stop := range map[string]func(*ControlPlane) error{
		"Stop": (*ControlPlane).Stop,
		"Kill": func(cp *ControlPlane) error { return cp.Kill(Etcd) },
	} {
		t.Run(name, func(t *testing.T) {
			cp, child := withChild(t)
			child.Started = ""
			stopped := make(chan error, 1)
			go func() { stopped <- stop(cp) }()
			select {
			case err := <-stopped:
				if err != nil {
					t.Error(err)
				}
			case <-time.After(30 * time.Second):
				t.Error("it hangs")
				_ = child.cmd.Process.Kill()
				<-stopped
			}
			if alive(child.PID) {
				t.Error("the child was left running")
			}
		})
	}
}

// A process in the hands of a broken driver, say, ends for no signal.
func TestStopHasADeadline(t *testing.T) {
	_, child := withChild(t)
	defer func() { <-child.ended }()
	synctest.Test(t, func(t *testing.T) {
		immortal := &process{record: child.record, cmd: child.cmd, ended: make(chan struct{})} // never closed
		cp := &ControlPlane{
			opts:      Options{Dir: t.TempDir(), Progress: io.Discard},
			processes: map[Component]*process{Etcd: immortal},
		}
		for name, stop := range map[string]func() error{
			"Stop": cp.Stop,
			"Kill": func() error { return cp.Kill(Etcd) },
		} {
			err := stop()
			if err == nil || !strings.Contains(err.Error(), immortal.String()) ||
				!strings.Contains(err.Error(), "ps ") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if cp.PID(Etcd) == 0 {
			t.Error("forgotten, although it runs")
		}
	})
}

func TestRecordWithoutStartTime(t *testing.T) {
	dir := t.TempDir()
	ours, unknown := spawn(t, "exec sleep 1000", ""), spawn(t, "exec sleep 1000", "")
	recorded := unknown
	recorded.Started = ""
	if err := writeRecords(dir, []record{recorded, ours}); err != nil {
		t.Fatal(err)
	}
	err := StopRecorded(dir, io.Discard)
	if err == nil {
		t.Fatal("a process that may be ours was passed over without a word")
	}
	for _, want := range []string{recorded.String(), "start time", "ps ", pidsFile(dir)} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
	if !unknown.running() {
		t.Error("a process that may not be ours was ended")
	}
	if ours.running() {
		t.Error("the other one was left running")
	}
	if _, err := os.Stat(pidsFile(dir)); err != nil {
		t.Errorf("the record is lost: %v", err)
	}
	if err := unknown.signal(9); err != nil {
		t.Fatal(err)
	}
	if len(stillRunning([]target{unknown}, 10*time.Second)) != 0 {
		t.Fatal("it does not end")
	}
	if err := StopRecorded(dir, io.Discard); err != nil {
		t.Errorf("when it is gone: %v", err)
	}
}

func TestProcessWithoutStartTimeIsNotStarted(t *testing.T) {
	defer func(before func(int) (string, error)) { readStartTime = before }(readStartTime)
	unreadable := errors.New("no /proc here")
	var pid int
	readStartTime = func(p int) (string, error) { pid = p; return "", unreadable }
	dir := t.TempDir()
	assets(t, "exec sleep 1000", "exec sleep 1000")
	_, err := Start(t.Context(), Options{Dir: dir, APIOnly: true})
	if !errors.Is(err, unreadable) || !strings.Contains(err.Error(), "start etcd") {
		t.Errorf("got %v", err)
	}
	if pid == 0 || alive(pid) {
		t.Errorf("pid %d was left running", pid)
	}
	if left, err := filepath.Glob(filepath.Join(dir, "pids*")); len(left) != 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}
