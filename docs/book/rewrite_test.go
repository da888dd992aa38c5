// Tests of rewriting a book on disk.

package book

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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

func rewrite(t *testing.T, root string, want ...string) {
	t.Helper()
	got, _, err := Rewrite(root)
	if err != nil || !slices.Equal(got, want) {
		t.Fatalf("rewritten: %q, %v; want %q", got, err, want)
	}
}

func TestRewrite(t *testing.T) {
	root, page := onDisk(t)
	if err := os.Chmod(page, 0o640); err != nil {
		t.Fatal(err)
	}
	rewrite(t, root, "docs/01-one.md")
	if text := read(t, page); !strings.Contains(text, "Added : pod1") {
		t.Errorf("the page was not brought in step:\n%s", text)
	}
	if info, err := os.Stat(page); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v; want it kept at 0640", info.Mode(), err)
	}
	rewrite(t, root) // a second run finds nothing to do
}

func TestRewriteLeavesBrokenPagesAlone(t *testing.T) {
	for name, added := range map[string]string{
		"broken directive": "\n<!-- code lost.go -->\n",
		"typed block":      "\n```go\nx := 1\n```\n",
		"unclosed block":   "\n```sh\nls\n",
	} {
		t.Run(name, func(t *testing.T) {
			root, page := onDisk(t)
			before := read(t, page) + added
			if err := os.WriteFile(page, []byte(before), 0o644); err != nil {
				t.Fatal(err)
			}
			rewrite(t, root)
			if read(t, page) != before {
				t.Error("the page was changed")
			}
		})
	}
}

func TestRewriteFails(t *testing.T) {
	root, page := onDisk(t)
	if err := os.Remove(page); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(page, fs.ModePerm); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Rewrite(root); err == nil || !strings.HasPrefix(err.Error(), "reading the page docs/01-one.md: ") {
		t.Errorf("a folder in place of a page: %v", err)
	}
}
