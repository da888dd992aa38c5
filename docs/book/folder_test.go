// Tests of the README.md of a chapter's folder.

package book

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

const firstGo = `// Chapter 01: one queue. You build
// a queue.
//
// Its page is docs/01-one.md.
package main
`

const secondGo = `// More of it. It needs a cluster.
//
// See docs/01-one.md.
package main
`

const stepsJSON = `{
	"01-one": [{"name": "pop", "title": "pods come out"}, {"name": "add", "title": "pods go in"}],
	"01-one/more": [{"name": "more", "title": "more pods", "needsCluster": true}],
	"01-one/alone": [{"name": "more", "title": "more pods"}]
}
`

const folderReadme = "# Chapter 01: one queue\n\nYou build a queue.\n\nPages: [One](../docs/01-one.md).\n\n" +
	"| step | what you see |\n|---|---|\n" +
	"| `go run ./01-one pop` | pods come out |\n| `go run ./01-one add` | pods go in |\n\n" +
	"## More of it\n\nIt needs a cluster.\n\n" +
	"| step | what you see |\n|---|---|\n| `go run ./01-one/more more` | more pods |\n"

// withPrograms returns the good tree, with two programs that have steps, and one in a module of its
// own.
func withPrograms(t *testing.T) fstest.MapFS {
	t.Helper()
	tree := goodTree(t)
	tree["01-one/main.go"] = file(firstGo)
	tree["01-one/more/main.go"] = file(secondGo)
	tree["01-one/alone/main.go"] = file(secondGo)
	tree["01-one/alone/go.mod"] = file("module alone\n")
	tree["docs/steps.json"] = file(stepsJSON)
	tree["01-one/README.md"] = file(folderReadme)
	return tree
}

func TestFolderPage(t *testing.T) {
	tree := withPrograms(t)
	wantNone(t, tree)
	texts, _ := load(t, tree).folderPages()
	if diff := cmp.Diff(map[string]string{"01-one/README.md": folderReadme}, texts); diff != "" {
		t.Errorf("folderPages() differs (-want +got):\n%s", diff)
	}
	for _, section := range load(t, tree).Find("pods come out", 10) {
		if section.Page == "01-one/README.md" {
			t.Error("find finds the README.md of a folder, want only pages of the book")
		}
	}
}

func TestFolderPageProblems(t *testing.T) {
	const stale = "01-one/README.md: it is not what the programs and the contents give: `go run ./docs` writes it"
	for _, c := range []badEdit{
		removed("missing", "01-one/README.md", stale),
		appended("changed by hand", "01-one/README.md", "\nMore.\n", stale),
		replaced("another title of a step", "docs/steps.json", "go in", "go on", stale),
		replaced("another title in the contents", "docs/README.md", "[One]", "[Two]", stale),
		replaced("another comment", "01-one/main.go", "// a queue.", "// two queues.", stale),
		replaced("comment without a page", "01-one/more/main.go", "//\n// See docs/01-one.md.\n", "",
			"01-one/more/main.go: the last paragraph of the package comment names no page of the chapter, "+
				"docs/01-….md"),
		replaced("program that does not compile", "01-one/more/main.go", "package main", "package",
			"01-one/more/main.go: looking for its comment: …"),
		removed("no manifest", "docs/steps.json", "docs/steps.json: open docs/steps.json: file does not exist"),
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := withPrograms(t)
			c.edit(t, tree)
			got := problems(t, tree)
			if len(got) == 0 || !matches(got[0], c.want) && !matches(got[len(got)-1], c.want) {
				t.Errorf("problems:\n  %s\nwant:\n  %s", strings.Join(got, "\n  "), c.want)
			}
		})
	}
}

// Rewrite writes the README.md of a folder, once.
func TestRewriteWritesFolderPages(t *testing.T) {
	root := t.TempDir()
	tree := withPrograms(t)
	delete(tree, "01-one/README.md")
	if err := os.CopyFS(root, tree); err != nil {
		t.Fatal(err)
	}
	for run, want := range []string{"rewritten: 01-one/README.md\n", ""} {
		var out strings.Builder
		if err := Rewrite(root, &out); err != nil || out.String() != want {
			t.Errorf("run %d: Rewrite() printed %q, error %v; want %q, nil", run+1, out.String(), err, want)
		}
	}
	if diff := cmp.Diff(folderReadme, read(t, filepath.Join(root, "01-one", "README.md"))); diff != "" {
		t.Errorf("the file differs (-want +got):\n%s", diff)
	}
}

func TestWrap(t *testing.T) {
	long := strings.Repeat("a", maxColumns-2)
	if got, want := wrap(long+" b é c"), long+" b\né c\n"; got != want {
		t.Errorf("wrap() = %q, want %q", got, want)
	}
}
