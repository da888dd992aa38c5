// Tests of the shape that all pages share.

package book

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestShape(t *testing.T) {
	const page = "docs/01-one.md"
	runBadEdits(t, []badEdit{
		appended("chapter without a page", "02-two/go.mod", "module two\n",
			"docs/02-two.md: the page of chapter 02-two is missing"),
		appended("output not shown", "01-one/testdata/list.txt", "[]\n",
			"docs/01-one.md: no page of the chapter shows 01-one/testdata/list.txt: add <!-- output "+
				"01-one/testdata/list.txt --> and run `go run ./docs`"),
		appended("step not shown", "01-one/step_list.go", "package main\n",
			"docs/01-one.md: no page of the chapter shows 01-one/step_list.go: add <!-- code 01-one/step_list.go …"),
		appended("output of a second program", "01-one/sub/deep/testdata/list.txt", "[]\n",
			"docs/01-one.md: no page of the chapter shows 01-one/sub/deep/testdata/list.txt: …"),
		replaced("output shown as code", page, "<!-- output 01-one", "<!-- code 01-one",
			"docs/01-one.md: no page of the chapter shows 01-one/testdata/pop.txt: …"),
		replaced("section renamed", page, "## The idea", "## the idea",
			`docs/01-one.md: the headings are ["# Name of the chapter" "## Run it" "## the idea" …`),
		replaced("section missing", page, "## Run it", "### Run it", "docs/01-one.md: the headings are …"),
		replaced("last section missing", page, "## Try it yourself", "### Try it yourself",
			"docs/01-one.md: the headings are …"),
		appended("section too many", page, "\n## Further reading\n", "docs/01-one.md: the headings are …"),
		replaced("no title", page, "# One\n", "One\n", "docs/01-one.md: the headings are …"),
		appended("second title", page, "\n# Two\n", "docs/01-one.md: the headings are …"),
		appended("page not in the contents", "docs/faq.md", "# Questions\n",
			"docs/README.md: the contents page does not link to faq.md"),
		replaced("opening incomplete", page, "**Why it exists.**", "**Why.**",
			"docs/01-one.md: before ## Run it, say …"),
		replaced("four lines of summary", page, "- five\n", "",
			"docs/01-one.md: ## Summary is a list of five lines, …"),
		replaced("no checkpoint", page, "go test ./01-one", "",
			"docs/01-one.md: ## Summary is a list of five lines, …"),
		appended("next page", page, "\nNext: [two](../README.md).\n",
			`docs/01-one.md: the last paragraph is Next: "../README.md"; in the contents, "" is next`),
		removed("no front page", "README.md", "README.md: this page is missing"),
	})
}

func TestShapeAllows(t *testing.T) {
	const noProblem = ""
	for _, c := range []badEdit{
		replaced("subheadings", "docs/01-one.md", "## The code\n", "## The code\n\n### a\n\n#### b\n", noProblem),
		replaced("contents by reference, with an anchor", "docs/README.md", "[One](01-one.md)",
			"[One]\n\n[one]: ./01-one.md#run-it", noProblem),
		appended("folders that are no chapters", "scripts/1-x/testdata/a.txt", "a\n", noProblem),
		appended("file named as a chapter", "02-two", "a\n", noProblem),
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.edit(t, tree)
			wantNone(t, tree)
		})
	}
}

func TestLongBlock(t *testing.T) {
	tree := goodTree(t)
	tree["01-one/pod.yaml"] = file(strings.Repeat("a: b\n", 101))
	rewriteTree(t, tree)
	wantProblem(t, tree, "docs/01-one.md:59: a block of 101 lines: …")
}

// A chapter may have a second page, for example for a second program. This page has the same shape,
// and its code, output and claims are checked, too.
func TestSecondPage(t *testing.T) {
	const name, sub = "docs/01-one-more.md", "01-one/sub/deep/"
	build := func(old, changed string) fstest.MapFS {
		tree := goodTree(t)
		for _, moved := range []string{"queue.go", "claims_test.go", "testdata/pop.txt"} {
			tree[sub+moved] = tree["01-one/"+moved]
		}
		page := strings.ReplaceAll(strings.Replace(chapterPage, "OUTPUT\n", "```text\n```\n", 1), "BLOCK", "```")
		tree[name] = file(strings.NewReplacer("01-one/queue.go", sub+"queue.go", "01-one/testdata/", sub+"testdata/",
			"01-one/claims", sub+"claims").Replace(page))
		tree["docs/README.md"] = file("# Contents\n\n1. [One](01-one.md), [more](01-one-more.md)\n")
		appendText(tree, "docs/01-one.md", "\nNext: [more](01-one-more.md),\nor stop.\n")
		rewriteTree(t, tree)
		replaceText(t, tree, name, old, changed)
		return tree
	}
	wantNone(t, build("flowchart LR", "flowchart TD"))
	for _, c := range []struct{ old, changed, want string }{
		{"## Try it yourself", "### Try it yourself", name + ": the headings are …"},
		{"Added : pod1", "Added : pod2",
			name + ":11: the block below is not what `output " + sub + "testdata/pop.txt` …"},
		{"none, errEmpty", "none, nil",
			name + ":25: the block below is not what `code " + sub + "queue.go Queue.Pop` …"},
		{"[TestPop]", "[TestPush]", name + ":36: there is no TestPush in " + sub + "claims_test.go"},
	} {
		wantProblem(t, build(c.old, c.changed), c.want)
	}
}

func TestMissingPages(t *testing.T) {
	got := problems(t, fstest.MapFS{"docs/more.md": file("")})
	want := []string{"README.md: this page is missing", "docs/README.md: this page is missing"}
	if !slices.Equal(got, want) {
		t.Errorf("problems = %q, want %q", got, want)
	}
}
