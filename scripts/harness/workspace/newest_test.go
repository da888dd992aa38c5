package workspace_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// fakeGo is a script in the place of go. It lists one module, and writes each call and its folder
// into a file.
const fakeGo = `#!/bin/sh
case "$*" in
*.Dir*) echo "$PWD/01-part"; exit ;;
*.Version*) echo v0.99.1; exit ;;
esac
echo "${PWD##*/}: go $*" >>"$CALLS"
`

// newest.sh works in a clone whose path has a space in it.
func TestNewest(t *testing.T) {
	root, err := workspace.Root(".")
	must.NoError(t, err)
	script, err := os.ReadFile(filepath.Join(root, "scripts", "newest.sh"))
	must.NoError(t, err)
	clone, bin := filepath.Join(t.TempDir(), "my clone"), t.TempDir()
	kubernetes := filepath.Join(clone, "08-factory", "kubernetes", "go.mod") // requires versions of its own
	for file, text := range map[string]string{
		filepath.Join(clone, "scripts", "newest.sh"):  string(script),
		filepath.Join(clone, "01-part", "go.mod"):     "require k8s.io/client-go v0.1.0\n",
		filepath.Join(clone, "docs", "01-a-page.md"):  "# A page\n\n*client-go v0.1.0*\n",
		filepath.Join(bin, "go"):                      fakeGo,
		filepath.Join(clone, "docs", "no-chapter.md"): "# Another page\n\n*v0.1.0*\n",
		kubernetes: "require k8s.io/api v0.0.9\n\nexclude (\n\tk8s.io/api v0.1.0\n)\n",
	} {
		must.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		must.NoError(t, os.WriteFile(file, []byte(text), 0o755))
	}
	calls := filepath.Join(bin, "calls")
	newest := exec.CommandContext(t.Context(), filepath.Join(clone, "scripts", "newest.sh"))
	newest.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "CALLS="+calls)
	if output, err := newest.CombinedOutput(); err != nil {
		t.Fatalf("newest.sh: %v: %s", err, output)
	}
	for file, want := range map[string]string{
		calls: "01-part: go get k8s.io/client-go@latest k8s.io/api@latest k8s.io/apimachinery@latest\n" +
			"01-part: go mod tidy\n" +
			"kubernetes: go mod tidy\n",
		kubernetes: "require k8s.io/api v0.0.9\n\nexclude (\n\tk8s.io/api v0.99.1\n)\n",
		filepath.Join(clone, "docs", "01-a-page.md"):  "# A page\n\n*client-go v0.99.1*\n",
		filepath.Join(clone, "docs", "no-chapter.md"): "# Another page\n\n*v0.1.0*\n",
	} {
		got, err := os.ReadFile(file)
		must.NoError(t, err)
		if string(got) != want {
			t.Errorf("after newest.sh, %s is %q\nwant %q", filepath.Base(file), got, want)
		}
	}
}
