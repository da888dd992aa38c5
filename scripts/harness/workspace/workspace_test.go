package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

func TestAQuotedWordIsOneWordOfAShell(t *testing.T) {
	for _, word := range []string{"", "/tmp/clone", "/tmp/my clone", `it's "5" $HOME & ~*`} {
		said, err := exec.CommandContext(t.Context(), "sh", "-c", "printf '<%s>' "+workspace.Quote(word)).Output()
		must.Do(t, err)
		if got, want := string(said), "<"+word+">"; got != want {
			t.Errorf("Quote(%q) is %s: a shell makes %s of it, want %s", word, workspace.Quote(word), got, want)
		}
	}
	if got := workspace.Quote("/tmp/clone-1/.cluster/kubeconfig"); got != "/tmp/clone-1/.cluster/kubeconfig" {
		t.Errorf("got %s, want no quotes", got)
	}
}

func TestRootIsTheNearestFolderWithGoWork(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	must.Do(t, os.MkdirAll(deep, 0o755))
	if _, err := workspace.Root(deep); err == nil || !strings.Contains(err.Error(), "no go.work in "+deep) {
		t.Errorf("outside a workspace: %v", err)
	}
	must.Do(t, os.WriteFile(filepath.Join(root, "go.work"), nil, 0o644))
	for _, dir := range []string{root, deep} {
		if got, err := workspace.Root(dir); err != nil || got != root {
			t.Errorf("Root(%s) = %q, %v; want %q", dir, got, err, root)
		}
	}
}
