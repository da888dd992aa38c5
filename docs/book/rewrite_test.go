// Tests of rewriting a book on disk.

package book

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// onDisk writes the good tree to a folder, with one page out of step.
func onDisk(t *testing.T) (root, page string) {
	t.Helper()
	root = t.TempDir()
	tree := goodTree(t)
	badEdit{file: "docs/01-one.md", old: "Added : pod1", new: "Added : pod2"}.apply(t, tree)
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
	for _, want := range []string{"rewritten: docs/01-one.md\n", ""} { // a second run finds nothing to do
		var out strings.Builder
		if err := Rewrite(root, &out); err != nil || out.String() != want {
			t.Errorf("printed %q, error %v; want %q", out.String(), err, want)
		}
	}
	if text := read(t, page); !strings.Contains(text, "Added : pod1") {
		t.Errorf("the page was not brought in step:\n%s", text)
	}
	if info, err := os.Stat(page); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v; want it kept at 0640", info.Mode(), err)
	}
}

// What is left for a person is said, and a broken page stays as it is.
func TestRewriteLeavesBrokenPagesAlone(t *testing.T) {
	for added, want := range map[string]string{
		"\n<!-- code lost.go -->\n":      "docs/01-one.md:53: open lost.go: ",
		"\n```go\nx := 1\n```\n":         "docs/01-one.md:53: no code or output is typed into a page",
		"\n```sh\nls\n":                  "docs/01-one.md:53: this ``` block is never closed",
		"\n[a](lost.md)\n\n~~~ [b](c d)": "docs/01-one.md:53: dead link lost.md",
	} {
		t.Run(want, func(t *testing.T) {
			root, page := onDisk(t)
			before := read(t, page) + added
			if err := os.WriteFile(page, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := Rewrite(root, t.Output()); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want %s", err, want)
			}
			if read(t, page) != before {
				t.Error("the page was changed")
			}
		})
	}
}
