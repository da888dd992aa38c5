// Tests of choosing between clusters. What needs a real one is tested through
// the command line, in the folder above.

package workspace

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/cluster/internal/state"
	"example.com/informer/scripts/cluster/kind"
	"example.com/informer/scripts/cluster/local"
)

// kindRecorded is a workspace whose kind cluster is out of reach: no engine answers.
func kindRecorded(t *testing.T) (root string, dir state.Dir) {
	t.Helper()
	root = t.TempDir()
	dir = state.Of(root)
	if err := dir.SetProvider(Kind); err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", t.TempDir())
	t.Setenv("KUBECONFIG", "")
	return root, dir
}

func TestOneClusterAtATime(t *testing.T) {
	root, _ := kindRecorded(t)
	_, err := Up(t.Context(), root, Local, os.Stderr)
	if err == nil || !strings.Contains(err.Error(), "scripts/kind-down.sh") {
		t.Errorf("up local: %v", err)
	}
	if removed, err := Down(t.Context(), root, Local, os.Stderr); removed != "" || err != nil {
		t.Errorf("down local: %q, %v", removed, err)
	}
}

func TestKindClusterIsNotForgotten(t *testing.T) {
	root, dir := kindRecorded(t)
	if _, err := Up(t.Context(), root, Auto, os.Stderr); !errors.Is(err, kind.ErrNoEngine) {
		t.Errorf("up: %v", err)
	}
	if _, err := Down(t.Context(), root, "", os.Stderr); !errors.Is(err, kind.ErrNoEngine) {
		t.Errorf("down: %v", err)
	}
	if provider, err := dir.Provider(); provider != Kind || err != nil {
		t.Errorf("recorded: %q, %v", provider, err)
	}
}

func TestFailedAttemptLeavesNoRecord(t *testing.T) {
	root, dir := kindRecorded(t)
	if err := dir.Clear(); err != nil {
		t.Fatal(err)
	}
	if _, err := Up(t.Context(), root, Kind, os.Stderr); !errors.Is(err, kind.ErrNoEngine) {
		t.Errorf("up kind: %v", err)
	}
	if left, err := os.ReadDir(filepath.Join(root, ".cluster")); len(left) != 0 || err != nil {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A process that cannot be stopped must not be forgotten.
func TestRecordOfAProcessThatMayRunStays(t *testing.T) {
	root, dir := kindRecorded(t)
	process := exec.Command("/bin/sleep", "1000")
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	})
	pids := filepath.Join(string(dir), "pids")
	content := fmt.Sprintf(`[{"component": "etcd", "pid": %d, "started": ""}]`, process.Process.Pid)
	if err := errors.Join(dir.SetProvider(Local), os.WriteFile(pids, []byte(content), 0o600)); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		_, upErr := Up(t.Context(), root, Local, os.Stderr)
		_, downErr := Down(t.Context(), root, Local, os.Stderr)
		if !errors.Is(upErr, local.ErrNotStopped) || !errors.Is(downErr, local.ErrNotStopped) {
			t.Errorf("up: %v; down: %v", upErr, downErr)
		}
		if _, err := os.Stat(pids); err != nil {
			t.Fatal(err)
		}
	}
}
