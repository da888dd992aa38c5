package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// aGo stands for go: it lists one module, and writes down where it was called, and how.
const aGo = `#!/bin/sh
case "$*" in
*.Dir*) echo "$PWD/01-part"; exit ;;
*.Version*) echo v0.99.1; exit ;;
esac
echo "${PWD##*/}: go $*" >>"$CALLS"
`

// newest.sh runs in a clone whose path has a space in it.
func TestNewest(t *testing.T) {
	root, err := workspace.Root(".")
	must.Do(t, err)
	script, err := os.ReadFile(filepath.Join(root, "scripts", "newest.sh"))
	must.Do(t, err)
	clone, bin := filepath.Join(t.TempDir(), "my clone"), t.TempDir()
	for file, text := range map[string]string{
		filepath.Join(clone, "scripts", "newest.sh"):  string(script),
		filepath.Join(clone, "01-part", "go.mod"):     "require k8s.io/client-go v0.1.0\n",
		filepath.Join(clone, "docs", "01-a-page.md"):  "# A page\n\n*client-go v0.1.0*\n",
		filepath.Join(bin, "go"):                      aGo,
		filepath.Join(clone, "docs", "no-chapter.md"): "# Another page\n\n*v0.1.0*\n",
	} {
		must.Do(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.Do(t, os.WriteFile(file, []byte(text), 0o755))
	}
	calls := filepath.Join(bin, "calls")
	newest := exec.CommandContext(t.Context(), filepath.Join(clone, "scripts", "newest.sh"))
	newest.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CALLS="+calls)
	if said, err := newest.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for file, want := range map[string]string{
		calls: "01-part: go get k8s.io/client-go@latest k8s.io/api@latest k8s.io/apimachinery@latest\n" +
			"01-part: go mod tidy\n",
		filepath.Join(clone, "docs", "01-a-page.md"):  "# A page\n\n*client-go v0.99.1*\n",
		filepath.Join(clone, "docs", "no-chapter.md"): "# Another page\n\n*v0.1.0*\n",
	} {
		if got, err := os.ReadFile(file); string(got) != want {
			t.Errorf("%s: got %q, %v; want %q", filepath.Base(file), got, err, want)
		}
	}
}
