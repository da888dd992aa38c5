// Tests of what a reader needs beside a page.

package book

import (
	"io/fs"
	"maps"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

var contentsTree = fstest.MapFS{
	"README.md": file("# Front\n"),
	"docs/README.md": file("# The book\n\nSee [✓](x_test.go \"TestX\"), and [Go](https://go.dev).\n\n" +
		"Begin with [a prologue](prologue.md).\n\n" +
		"**Part I: one.** You build it.\n\n" +
		"1. [A queue](01-a.md): a text with a [link](prologue.md).\n   - [More](01-b.md)\n\n8. [The end](08-a.md)\n\n" +
		"Appendices:\n\n- [Guide](guide.md)\n\n" +
		"## Reference\n\nNothing.\n\n- [Words](reference/words.md)\n- no link\n\n" +
		"## How to read\n\n- `$` is a command\n"),
	"docs/prologue.md":        file("# Prologue\n"),
	"docs/01-a.md":            file("# 01 · A\n"),
	"docs/01-b.md":            file("# B\n"),
	"docs/08-a.md":            file("# 08\n"),
	"docs/guide.md":           file("# Guide\n\n[two](guide/two.md#x), [one](guide/one.md), [two](guide/two.md)\n"),
	"docs/guide/one.md":       file("# Number one\n"),
	"docs/guide/two.md":       file("# Number two\n\n## X\n"),
	"docs/reference/words.md": file("# Glossary\n"),
}

func TestContents(t *testing.T) {
	want := []Part{
		{Entries: []Entry{{Title: "A prologue", Page: "docs/prologue.md"}}},
		{Title: "Part I: one", Entries: []Entry{
			{Title: "A queue", Page: "docs/01-a.md", Number: 1}, {Title: "More", Page: "docs/01-b.md", Level: 1},
			{Title: "The end", Page: "docs/08-a.md", Number: 2},
		}},
		{Title: "Appendices", Entries: []Entry{
			{Title: "Guide", Page: "docs/guide.md"},
			{Title: "Number two", Page: "docs/guide/two.md", Level: 1},
			{Title: "Number one", Page: "docs/guide/one.md", Level: 1},
		}},
		{Title: "Reference", Entries: []Entry{{Title: "Words", Page: "docs/reference/words.md"}}},
	}
	if diff := cmp.Diff(want, load(t, contentsTree).Contents()); diff != "" {
		t.Errorf("the contents differ (-want +got):\n%s", diff)
	}
}

// A page that somebody has begun to write, or that cannot be read, has no heading yet.
func TestContentsOfPagesWithoutAHeading(t *testing.T) {
	tree := maps.Clone(contentsTree)
	tree["docs/README.md"] = file("- [Guide](guide.md)\n")
	tree["docs/guide/two.md"] = &fstest.MapFile{Mode: fs.ModeNamedPipe}
	want := []Part{{Entries: []Entry{
		{Title: "Guide", Page: "docs/guide.md"},
		{Title: "docs/guide/two.md", Page: "docs/guide/two.md", Level: 1},
		{Title: "Number one", Page: "docs/guide/one.md", Level: 1},
	}}}
	if diff := cmp.Diff(want, load(t, tree).Contents()); diff != "" {
		t.Errorf("the contents differ (-want +got):\n%s", diff)
	}
}

func TestBlocks(t *testing.T) {
	const page = "# Page\n\n<!-- code a.go f -->\n```go\nfunc f() {}\n```\n\n" +
		"<!-- code a.go g, folded -->\n<details><summary>The code: g</summary>\n\n" +
		"```go\nfunc g() {\n}\n```\n\n</details>\n\n" +
		"<!-- output testdata/a.txt -->\n```text\none\n```\n\n<!-- code b.go -->\n\n```mermaid\nflowchart\n```\n"
	tree := fstest.MapFS{
		"README.md":  file(page),
		"a.go":       file("package a\n\n// f is new.\nfunc f() {}\n\nfunc g() {\n}\n"),
		"testdata/a": file(""),
	}
	b := load(t, tree)
	got := b.Blocks("README.md")
	for i := range got {
		if (got[i].Err != nil) != got[i].IsOutput {
			t.Errorf("block %d has the error %v; want one for the output alone, whose file is missing", i, got[i].Err)
		}
		got[i].Err = nil
	}
	want := []Block{
		{Line: 3, File: "a.go", Names: []string{"f"}, Printed: "func f() {}", Now: "// f is new.\nfunc f() {}"},
		{Line: 10, File: "a.go", Names: []string{"g"}, Printed: "func g() {\n}", Now: "func g() {\n}"},
		{Line: 18, IsOutput: true, File: "testdata/a.txt", Names: []string{}, Printed: "one"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the blocks differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"flowchart\n"}, b.Diagrams("README.md")); diff != "" {
		t.Errorf("the diagrams differ (-want +got):\n%s", diff)
	}
	lines := DeclarationLines("a.go", tree["a.go"].Data, []string{"f", "g", "h"})
	if diff := cmp.Diff([][2]int{{3, 4}, {6, 7}}, lines); diff != "" {
		t.Errorf("the lines of the declarations differ (-want +got):\n%s", diff)
	}
}

func TestComplete(t *testing.T) {
	b := load(t, library)
	for query, want := range map[string]string{
		"":              "",
		"too old resou": "too old resource",
		"resource":      "resource", // the book has it
		"resou ":        "resou ",   // the word is complete
		"kangar":        "kangar",
		"resou forb":    "resou forbidden",
	} {
		if got := b.Complete(query); got != want {
			t.Errorf("Complete(%q) = %q, want %q", query, got, want)
		}
	}
	for _, s := range b.Find("too old resource version", 1) {
		if want := "too-old-resource-version"; s.Anchor != want || !strings.HasSuffix(s.Page, "guide.md") {
			t.Errorf("the section has the anchor %q of %s, want %q of the guide", s.Anchor, s.Page, want)
		}
	}
}
