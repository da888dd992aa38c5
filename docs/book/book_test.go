// A small book that is right, for the tests to break one thing at a time.

package book

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/informer/scripts/harness/expect"
)

const queueGo = `// Package one has a queue.
package one

import "errors"

// Queue holds what waits.
type Queue[K comparable, V any] struct {
	items map[K]V // by key
}

// Pop takes the next one out.
func (q *Queue[K, V]) Pop() (V, error) {
	var none V
	return none, errEmpty
}

var errEmpty = errors.New("empty") // what Pop returns

// The sizes.
const (
	small = 1
	large = 2
)

func bare() {}
`

const claimsTest = `package one

import "testing"

type suite struct{}

var TestVar = 1

func TestPop(t *testing.T) {}

func TestMain(m *testing.M) {}

func (suite) TestMethod(t *testing.T) {}

func FuzzPop(f *testing.F) { f.Add(1) }

func BenchmarkPop(b *testing.B) {}

func ExampleQueue() {
	// Output: 1
}

func ExampleQueue_Pop() {}
`

const chapterPage = `# One

**What you build.** A queue. **Why it exists.** To wait. **What client-go calls it.** FIFO.

## Run it

BLOCKsh
go run ./01-one
BLOCK

<!-- output 01-one/testdata/pop.txt -->
OUTPUT

## The idea

BLOCKmermaid
flowchart LR
  A --> B
BLOCK

## The code

<!-- code 01-one/queue.go Queue.Pop -->

## How client-go does it today

It [pops](https://kubernetes.io/docs/): [TestPop](../01-one/claims_test.go).

## Where people trip

See [the idea](#the-idea).

## Summary

- one
- two,
  with more
- three
- four
- five

BLOCKsh
go test ./01-one
BLOCK

## Try it yourself

<details><summary>Answer</summary>

<!-- code 01-one/pod.yaml -->

</details>
`

// goodTree is a workspace whose book has no problems.
func goodTree(t *testing.T) fstest.MapFS {
	t.Helper()
	page := strings.Replace(chapterPage, "OUTPUT\n", "```text\nold\n```\n", 1)
	tree := fstest.MapFS{
		"go.work":                   file("go 1.26.0\n"),
		"README.md":                 file("# Front\n\nRead [the book](docs/README.md).\n"),
		"docs/README.md":            file("# Contents\n\n1. [One](01-one.md)\n"),
		"docs/01-one.md":            file(strings.ReplaceAll(page, "BLOCK", "```")),
		"01-one/queue.go":           file(queueGo),
		"01-one/claims_test.go":     file(claimsTest),
		"01-one/pod.yaml":           file("kind: Pod\n"),
		"01-one/testdata/pop.txt":   file("Added : pod1\n"),
		"01-one/sub/testdata/x.bin": file("no output\n"),
	}
	rewriteTree(t, tree)
	return tree
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// rewriteTree does to a tree in memory what Rewrite does to one on disk.
func rewriteTree(t *testing.T, tree fstest.MapFS) {
	t.Helper()
	for _, p := range load(t, tree).pages {
		text, _, broken := load(t, tree).render(p)
		if len(broken) > 0 {
			t.Fatalf("rewriting: %v", broken)
		}
		tree[p.name] = file(text)
	}
}

func load(t *testing.T, tree fstest.MapFS) *Book {
	t.Helper()
	b, err := Load(tree)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// problems returns what is wrong with a tree, one line each.
func problems(t *testing.T, tree fstest.MapFS) []string {
	t.Helper()
	var lines []string
	for _, p := range load(t, tree).Problems() {
		lines = append(lines, p.Error())
	}
	return lines
}

// A badEdit is one edit of the good tree, and the one problem that it must cause.
type badEdit struct {
	name     string
	file     string
	old, new string // old "" puts new at the end; new "" with old "" removes the file
	want     string // all of the line, or its start where it ends in …
}

func runBadEdits(t *testing.T, cases []badEdit) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.apply(t, tree)
			got := problems(t, tree)
			if len(got) == 2 && strings.Contains(got[0], ": a directive stands alone") {
				got = got[:1] // what follows is that its block is nobody's
			}
			expect.That(t, len(got) == 1 && matches(got[0], c.want),
				"problems:\n  %s\nwant just:\n  %s", strings.Join(got, "\n  "), c.want)
		})
	}
}

func (c badEdit) apply(t *testing.T, tree fstest.MapFS) {
	t.Helper()
	if c.old == "" && c.new == "" {
		delete(tree, c.file)
		return
	}
	text := ""
	if f := tree[c.file]; f != nil {
		text = string(f.Data)
	}
	if c.old == "" {
		tree[c.file] = file(text + c.new)
		return
	}
	if strings.Count(text, c.old) != 1 {
		t.Fatalf("%s must hold %q once", c.file, c.old)
	}
	tree[c.file] = file(strings.Replace(text, c.old, c.new, 1))
}

func matches(got, want string) bool {
	if start, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(got, start)
	}
	return got == want
}

func wantNone(t *testing.T, tree fstest.MapFS) {
	t.Helper()
	got := problems(t, tree)
	expect.That(t, len(got) <= 0, "problems:\n  %s", strings.Join(got, "\n  "))
}

func TestGoodTreeHasNoProblems(t *testing.T) { wantNone(t, goodTree(t)) }

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
		err := Rewrite(root, &out)
		expect.That(t, err == nil && out.String() == want, "printed %q, error %v; want %q", out.String(), err, want)
	}
	text := read(t, page)
	expect.That(t, strings.Contains(text, "Added : pod1"), "the page was not brought in step:\n%s", text)
	if info, err := os.Stat(page); err != nil || info.Mode() != 0o640 {
		t.Errorf("mode %v, %v; want it kept at 0640", info.Mode(), err)
	}
}

// What is left for a person is said, and a broken page stays as it is.
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
			expect.That(t, err != nil && strings.Contains(err.Error(), want), "error %v, want %s", err, want)
			expect.That(t, read(t, page) == before, "the page was changed")
		})
	}
}
