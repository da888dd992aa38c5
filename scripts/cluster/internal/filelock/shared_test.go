// Tests of the lock that several hold at once.

package filelock

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func checkShared(t *testing.T, path string, want bool) {
	t.Helper()
	if got, err := Shared(path); got != want || err != nil {
		t.Fatalf("Shared() = %v, %v; want %v", got, err, want)
	}
}

func TestSharedUntilTheLastLetsGo(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	checkShared(t, path, false) // no file
	var holders []*os.File
	for range 2 {
		f, err := Share(path)
		if err != nil {
			t.Fatal(err)
		}
		holders = append(holders, f)
	}
	for _, f := range holders {
		checkShared(t, path, true)
		if err := Unshare(f); err != nil {
			t.Fatal(err)
		}
	}
	checkShared(t, path, false)
}

func TestChildHoldsTheLockUntilUnshare(t *testing.T) {
	path := filepath.Join(t.TempDir(), "users")
	for name, letGo := range map[string]struct {
		by   func(*os.File) error
		held bool
	}{
		"closed, as when this process is killed": {(*os.File).Close, true},
		"unshared":                               {Unshare, false},
	} {
		f, err := Share(path)
		if err != nil {
			t.Fatal(err)
		}
		child := exec.Command("sleep", "1000")
		child.ExtraFiles = []*os.File{f}
		if err := child.Start(); err != nil {
			t.Fatal(err)
		}
		if err := letGo.by(f); err != nil {
			t.Error(err)
		}
		if got, err := Shared(path); got != letGo.held || err != nil {
			t.Errorf("%s: %v, %v", name, got, err)
		}
		_ = child.Process.Kill()
		_ = child.Wait()
		checkShared(t, path, false)
	}
}
