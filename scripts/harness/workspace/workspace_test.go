package workspace_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

func TestRootIsTheNearestFolderWithGoWork(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	must.NoError(t, os.MkdirAll(deep, 0o755))
	want := "no go.work in " + deep
	if _, err := workspace.Root(deep); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Root(%s) outside of a workspace: error %v, want one with %q", deep, err, want)
	}
	must.NoError(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	for _, dir := range []string{root, deep} {
		if got, err := workspace.Root(dir); err != nil || got != root {
			t.Errorf("Root(%s) = %q, %v; want %q", dir, got, err, root)
		}
	}
}
