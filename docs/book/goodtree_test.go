// A small book without problems, and edits that give it one problem.

package book

import (
	"strings"
	"testing"
	"testing/fstest"
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

const mainGo = `// The program of docs/01-one.md.
package main

const link = "docs/01-one.md#the-idea"
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
flowchart LR; A --> B
  accDescr: An arrow leads from A to B.
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

<!-- code 01-one/pod.yaml, folded: Answer -->
`

// goodTree returns a workspace whose book has no problems.
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
		"01-one/practice/pop.md":    file("# Write Pop\n\nSee [the code](../../docs/01-one.md#the-code).\n"),
		"01-one/main.go":            file(mainGo),
		"docs/steps.json":           file("{}\n"),
		"scripts/read.sh":           file("#!/bin/sh\n# Prints docs/01-one.md.\n"),
	}
	rewriteTree(t, tree)
	return tree
}

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

// rewriteTree is Rewrite for a tree in memory.
func rewriteTree(t *testing.T, tree fstest.MapFS) {
	t.Helper()
	b := load(t, tree)
	for _, p := range b.pages {
		text, _, broken := b.render(p)
		if len(broken) > 0 {
			t.Fatalf("rewriting %s: %v", p.name, broken)
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

// problems returns the problems of a tree, a line each.
func problems(t *testing.T, tree fstest.MapFS) []string {
	t.Helper()
	var lines []string
	for _, p := range load(t, tree).Problems() {
		lines = append(lines, p.Error())
	}
	return lines
}

// A badEdit is an edit of the good tree that causes exactly one problem.
type badEdit struct {
	name string
	edit func(*testing.T, fstest.MapFS)
	want string // the line of the problem; if it ends in …, the begin of the line
}

// appended adds text to the end of a file. If the file does not exist, it creates the file.
func appended(name, file, text, want string) badEdit {
	return badEdit{name, func(_ *testing.T, tree fstest.MapFS) { appendText(tree, file, text) }, want}
}

// replaced replaces the only occurrence of a text in a file.
func replaced(name, file, old, changed, want string) badEdit {
	return badEdit{name, func(t *testing.T, tree fstest.MapFS) {
		t.Helper()
		replaceText(t, tree, file, old, changed)
	}, want}
}

// removed removes a file.
func removed(name, file, want string) badEdit {
	return badEdit{name, func(_ *testing.T, tree fstest.MapFS) { delete(tree, file) }, want}
}

func runBadEdits(t *testing.T, cases []badEdit) {
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.edit(t, tree)
			wantProblem(t, tree, c.want)
		})
	}
}

// wantProblem wants exactly one problem.
func wantProblem(t *testing.T, tree fstest.MapFS, want string) {
	t.Helper()
	got := problems(t, tree)
	if len(got) == 2 && strings.Contains(got[0], ": a directive stands alone") {
		got = got[:1] // the second problem follows from the first: the block has no directive
	}
	if len(got) != 1 || !matches(got[0], want) {
		t.Errorf("problems:\n  %s\nwant just:\n  %s", strings.Join(got, "\n  "), want)
	}
}

func appendText(tree fstest.MapFS, name, text string) {
	if f := tree[name]; f != nil {
		text = string(f.Data) + text
	}
	tree[name] = file(text)
}

func replaceText(t *testing.T, tree fstest.MapFS, name, old, changed string) {
	t.Helper()
	text := string(tree[name].Data)
	if n := strings.Count(text, old); n != 1 {
		t.Fatalf("%s has %q %d times, want once", name, old, n)
	}
	tree[name] = file(strings.Replace(text, old, changed, 1))
}

// matches compares a problem with the wanted line, or with its begin if the wanted line ends in ….
func matches(got, want string) bool {
	if start, ok := strings.CutSuffix(want, "…"); ok {
		return strings.HasPrefix(got, start)
	}
	return got == want
}

func wantNone(t *testing.T, tree fstest.MapFS) {
	t.Helper()
	got := problems(t, tree)
	if len(got) > 0 {
		t.Errorf("problems:\n  %s\nwant none", strings.Join(got, "\n  "))
	}
}

func TestGoodTreeHasNoProblems(t *testing.T) { wantNone(t, goodTree(t)) }
