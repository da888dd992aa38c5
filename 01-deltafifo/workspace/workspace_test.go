package workspace_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/informer/01-deltafifo/workspace"
)

func TestRootIsTheNearestFolderWithGoWork(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, deep} {
		t.Chdir(dir)
		if got, err := workspace.Root(); err != nil || got != root {
			t.Errorf("from %s: Root() = %q, %v; want %q", dir, got, err, root)
		}
	}
}

func TestRootOutsideTheWorkspaceIsAnError(t *testing.T) {
	t.Chdir(t.TempDir())
	if got, err := workspace.Root(); !errors.Is(err, workspace.ErrNotFound) {
		t.Errorf("Root() = %q, %v; want ErrNotFound", got, err)
	}
}
