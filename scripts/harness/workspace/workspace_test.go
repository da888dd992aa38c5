package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/workspace"
)

func TestRootIsTheNearestFolderWithGoWork(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := workspace.Root(deep); err == nil || !strings.Contains(err.Error(), "no go.work in "+deep) {
		t.Errorf("outside a workspace: %v", err)
	}
	if err := os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{root, deep} {
		if got, err := workspace.Root(dir); err != nil || got != root {
			t.Errorf("Root(%s) = %q, %v; want %q", dir, got, err, root)
		}
	}
}
