// Tests of the command.

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// smallBook makes a folder with the smallest book there is and returns its docs folder.
func smallBook(t *testing.T, contents string) string {
	t.Helper()
	root := t.TempDir()
	files := map[string]string{
		"go.work":             "go 1.26.0\n",
		"README.md":           "# Front\n",
		"go/testdata/one.txt": "1\n",
		"docs/README.md":      contents,
	}
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(root, "docs")
}

func TestRun(t *testing.T) {
	dir := smallBook(t, "# Contents\n\n<!-- output go/testdata/one.txt -->\n")
	for _, want := range []string{"rewritten: docs/README.md\n", "nothing to rewrite\n"} {
		var out strings.Builder
		if err := run(dir, &out); err != nil || out.String() != want {
			t.Errorf("printed %q, error %v; want %q", out.String(), err, want)
		}
	}
}

func TestRunReportsWhatIsLeft(t *testing.T) {
	dir := smallBook(t, "# Contents\n\n<!-- output go/testdata/one.txt -->\n\n[a](lost.md)\n[b](lost.md)\n")
	want := "docs/README.md:8: dead link lost.md: there is no docs/lost.md\n" +
		"docs/README.md:9: dead link lost.md: there is no docs/lost.md"
	for _, rewritten := range []string{"rewritten: docs/README.md\n", ""} {
		var out strings.Builder
		if err := run(dir, &out); err == nil || err.Error() != want || out.String() != rewritten {
			t.Errorf("printed %q, error %v; want %q and %q", out.String(), err, rewritten, want)
		}
	}
}

func TestRunOutsideAWorkspace(t *testing.T) {
	if err := run(t.TempDir(), t.Output()); err == nil || !strings.HasPrefix(err.Error(), "no go.work in ") {
		t.Errorf("error %v", err)
	}
}
