// Tests of Rewrite.

package book

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// onDisk writes the good tree to a folder, with one stale page.
func onDisk(t *testing.T) (root, page string) {
	t.Helper()
	root = t.TempDir()
	tree := goodTree(t)
	replaceText(t, tree, "docs/01-one.md", "Added : pod1", "Added : pod2")
	if err := os.CopyFS(root, tree); err != nil {
		t.Fatal(err)
	}
	return root, filepath.Join(root, "docs", "01-one.md")
}

func read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestRewrite(t *testing.T) {
	root, page := onDisk(t)
	if err := os.Chmod(page, 0o640); err != nil {
		t.Fatal(err)
	}
	for run, want := range []string{"rewritten: docs/01-one.md\n", ""} { // the second run has nothing to do
		var out strings.Builder
		err := Rewrite(root, &out)
		if err != nil || out.String() != want {
			t.Errorf("run %d: Rewrite() printed %q, error %v; want %q, nil", run+1, out.String(), err, want)
		}
	}
	text := read(t, page)
	if want := "Added : pod1"; !strings.Contains(text, want) {
		t.Errorf("after Rewrite(), the page has no %q:\n%s", want, text)
	}
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := info.Mode(), os.FileMode(0o640); got != want {
		t.Errorf("after Rewrite(), the mode of the page is %v, want %v", got, want)
	}
}

// Rewrite reports the problems of a broken page, and does not change the page.
func TestRewriteLeavesBrokenPagesAlone(t *testing.T) {
	for added, want := range map[string]string{
		"\n<!-- code lost.go -->\n":      "docs/01-one.md:66: open lost.go: ",
		"\n```go\nx := 1\n```\n":         "docs/01-one.md:66: no code or output is typed into a page",
		"\n```sh\nls\n":                  "docs/01-one.md:66: this ``` block is never closed",
		"\n[a](lost.md)\n\n~~~ [b](c d)": "docs/01-one.md:66: dead link lost.md",
	} {
		t.Run(want, func(t *testing.T) {
			root, page := onDisk(t)
			before := read(t, page) + added
			if err := os.WriteFile(page, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
			err := Rewrite(root, t.Output())
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Rewrite() = %v, want an error with %q", err, want)
			}
			if diff := cmp.Diff(before, read(t, page)); diff != "" {
				t.Errorf("Rewrite() changed the page (-before +after):\n%s", diff)
			}
		})
	}
}
