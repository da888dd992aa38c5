// Tests of Rewrite.

package book

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
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

// A page that is a link leads to a file that is not a page, or not of this workspace. A pipe has no end.
// Rewrite names them, and goes on with the others.
func TestRewriteFollowsNoLink(t *testing.T) {
	const stale = "# Two\n\n<!-- code 01-one/pod.yaml -->\n"
	outside := filepath.Join(t.TempDir(), "outside.md")
	for name, test := range map[string]struct {
		file string
		make func(file string) error
		want string
	}{
		"out of the tree": {"docs/two.md", linkTo(outside), "docs/two.md: "},
		"inside of it":    {"docs/two.md", linkTo("01-one.md"), "docs/two.md: "},
		"to nothing":      {"docs/two.md", linkTo("lost.md"), "docs/two.md: "},
		"a pipe": {"docs/two.md", func(file string) error { return syscall.Mkfifo(file, 0o600) },
			"docs/two.md: "},
		"of a block":               {"01-one/pod.yaml", linkTo(outside), "docs/01-one.md:57: "},
		"of the folder of a block": {"01-one/testdata", linkTo(filepath.Dir(outside)), "docs/01-one.md:11: "},
	} {
		t.Run(name, func(t *testing.T) {
			root, page := onDisk(t)
			for _, file := range []string{outside, filepath.Join(filepath.Dir(outside), "pop.txt")} {
				if err := os.WriteFile(file, []byte(stale), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			file := filepath.Join(root, filepath.FromSlash(test.file))
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if err := test.make(file); err != nil {
				t.Fatal(err)
			}
			err := Rewrite(root, t.Output())
			want := test.want + test.file + " is not a regular file"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("Rewrite() = %v, want an error with %q", err, want)
			}
			if got := read(t, outside); got != stale {
				t.Errorf("Rewrite() changed a file outside of the tree: %q", got)
			}
			isBlock := strings.HasPrefix(test.want, "docs/01-one.md")
			if strings.Contains(read(t, page), "pod1") == isBlock {
				t.Errorf("a stale page was rewritten: got %t, want %t", isBlock, !isBlock)
			}
		})
	}
}

func linkTo(target string) func(file string) error {
	return func(file string) error { return os.Symlink(target, file) }
}

// A page that is not UTF-8 is named, and left as it is.
func TestRewriteRefusesWhatIsNotUTF8(t *testing.T) {
	root, page := onDisk(t)
	before := strings.Replace(read(t, page), "To wait.", "To wait\xff.", 1)
	if err := os.WriteFile(page, []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	err := Rewrite(root, t.Output())
	if want := "docs/01-one.md:3: this line is not valid UTF-8"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("Rewrite() = %v, want an error with %q", err, want)
	}
	if after := read(t, page); after != before {
		t.Errorf("Rewrite() changed the page to\n%q", after)
	}
}
