// Tests of the shape that all pages share.

package book

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"example.com/informer/scripts/harness/expect"
)

func TestShape(t *testing.T) {
	const page = "docs/01-one.md"
	runBadEdits(t, []badEdit{
		{"chapter without a page", "02-two/go.mod", "", "module two\n",
			"docs/02-two.md: the page of chapter 02-two is missing"},
		{"output not shown", "01-one/testdata/list.txt", "", "[]\n",
			"docs/01-one.md: no page of the chapter shows 01-one/testdata/list.txt: add <!-- output " +
				"01-one/testdata/list.txt --> and run `go run ./docs`"},
		{"step not shown", "01-one/step_list.go", "", "package main\n",
			"docs/01-one.md: no page of the chapter shows 01-one/step_list.go: add <!-- code 01-one/step_list.go …"},
		{"output of a second program", "01-one/sub/deep/testdata/list.txt", "", "[]\n",
			"docs/01-one.md: no page of the chapter shows 01-one/sub/deep/testdata/list.txt: …"},
		{"output shown as code", page, "<!-- output 01-one", "<!-- code 01-one",
			"docs/01-one.md: no page of the chapter shows 01-one/testdata/pop.txt: …"},
		{"section renamed", page, "## The idea", "## the idea",
			`docs/01-one.md: the headings are ["# Name of the chapter" "## Run it" "## the idea" …`},
		{"section missing", page, "## Run it", "### Run it", "docs/01-one.md: the headings are …"},
		{"last section missing", page, "## Try it yourself", "### Try it yourself",
			"docs/01-one.md: the headings are …"},
		{"section too many", page, "", "\n## Further reading\n", "docs/01-one.md: the headings are …"},
		{"no title", page, "# One\n", "One\n", "docs/01-one.md: the headings are …"},
		{"second title", page, "", "\n# Two\n", "docs/01-one.md: the headings are …"},
		{"page not in the contents", "docs/faq.md", "", "# Questions\n",
			"docs/README.md: the contents page does not link to faq.md"},
		{"opening incomplete", page, "**Why it exists.**", "**Why.**", "docs/01-one.md: before ## Run it, say …"},
		{"four lines of summary", page, "- five\n", "", "docs/01-one.md: ## Summary is a list of five lines, …"},
		{"no checkpoint", page, "go test ./01-one", "", "docs/01-one.md: ## Summary is a list of five lines, …"},
		{"next page", page, "", "\nNext: [two](../README.md).\n",
			`docs/01-one.md: the last paragraph is Next: "../README.md"; in the contents, "" is next`},
		{"no front page", "README.md", "", "", "README.md: this page is missing"},
	})
}

func TestShapeAllows(t *testing.T) {
	for _, c := range []badEdit{
		{name: "subheadings", file: "docs/01-one.md", old: "## The code\n", new: "## The code\n\n### a\n\n#### b\n"},
		{name: "contents by reference, with an anchor", file: "docs/README.md", old: "[One](01-one.md)",
			new: "[One]\n\n[one]: ./01-one.md#run-it"},
		{name: "folders that are no chapters", file: "scripts/1-x/testdata/a.txt", new: "a\n"},
		{name: "file named as a chapter", file: "02-two", new: "a\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.apply(t, tree)
			wantNone(t, tree)
		})
	}
}

func TestLongBlock(t *testing.T) {
	tree := goodTree(t)
	tree["01-one/pod.yaml"] = file(strings.Repeat("a: b\n", 101))
	rewriteTree(t, tree)
	got := problems(t, tree)
	expect.That(t, len(got) == 1 && matches(got[0], "docs/01-one.md:59: a block of 101 lines: …"), "got %q", got)
}

// A chapter may have a second page, say for a program in a folder of its own: of the
// same build, and its code, outputs and claims count.
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
		badEdit{file: "docs/01-one.md", new: "\nNext: [more](01-one-more.md),\nor stop.\n"}.apply(t, tree)
		rewriteTree(t, tree)
		badEdit{file: name, old: old, new: changed}.apply(t, tree)
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
		got := problems(t, build(c.old, c.changed))
		expect.That(t, len(got) == 1 && matches(got[0], c.want), "got %q, want %q", got, c.want)
	}
}

func TestMissingPages(t *testing.T) {
	got := problems(t, fstest.MapFS{"docs/more.md": file("")})
	want := []string{"README.md: this page is missing", "docs/README.md: this page is missing"}
	expect.That(t, slices.Equal(got, want), "got %q, want %q", got, want)
}
