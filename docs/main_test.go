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

func try(t *testing.T, dir string, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	code = run(dir, args, &out, &errs)
	return code, out.String(), errs.String()
}

func TestRun(t *testing.T) {
	dir := smallBook(t, "# Contents\n\n<!-- output go/testdata/one.txt -->\n")
	for _, want := range []string{"rewritten: docs/README.md\n", "nothing to rewrite\n"} {
		if code, out, errs := try(t, dir); code != 0 || out != want || errs != "" {
			t.Errorf("exit %d, stdout %q, stderr %q; want %q", code, out, errs, want)
		}
	}
}

func TestRunReportsWhatIsLeft(t *testing.T) {
	dir := smallBook(t, "# Contents\n\n<!-- output go/testdata/one.txt -->\n\n[a](lost.md)\n")
	want := "docs/README.md:8: dead link lost.md: there is no docs/lost.md\n"
	for _, rewritten := range []string{"rewritten: docs/README.md\n", ""} {
		if code, out, errs := try(t, dir); code != 1 || out != rewritten || errs != want {
			t.Errorf("exit %d, stdout %q, stderr %q; want %q and %q", code, out, errs, rewritten, want)
		}
	}
}

func TestRunOutsideAWorkspace(t *testing.T) {
	if code, out, errs := try(t, t.TempDir()); code != 1 || out != "" || !strings.HasPrefix(errs, "no go.work in ") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
}

func TestRunWrongUsage(t *testing.T) {
	if code, out, errs := try(t, t.TempDir(), "check"); code != 2 || out != "" ||
		!strings.HasPrefix(errs, "usage: go run ./docs") {
		t.Errorf("exit %d, stdout %q, stderr %q", code, out, errs)
	}
}
