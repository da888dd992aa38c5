// Tests of what the pages have to show, and of how they are linked.

package book

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestShape(t *testing.T) {
	const page = "docs/01-one.md"
	runBadEdits(t, []badEdit{
		appended("chapter without a page", "02-two/go.mod", "module two\n",
			"docs/02-two.md: the page of chapter 02-two is missing"),
		appended("output not shown", "01-one/testdata/list.txt", "[]\n",
			"01-one/testdata/list.txt: no page shows it: add <!-- output 01-one/testdata/list.txt --> to one, "+
				"and run `go run ./docs`"),
		appended("step not shown", "01-one/step_list.go", "package main\n",
			"01-one/step_list.go: no page shows it: add <!-- code 01-one/step_list.go --> to one, …"),
		appended("output of a second program", "01-one/sub/deep/testdata/list.txt", "[]\n",
			"01-one/sub/deep/testdata/list.txt: no page shows it: …"),
		replaced("output shown as code", page, "<!-- output 01-one", "<!-- code 01-one",
			"01-one/testdata/pop.txt: no page shows it: …"),
		appended("page not in the contents", "docs/faq.md", "# Questions\n",
			"docs/README.md: this page does not link to docs/faq.md"),
		appended("page of a folder not in the contents", "docs/more/faq.md", "# Questions\n",
			"docs/README.md: this page does not link to docs/more/faq.md"),
		appended("page of a folder not on its front page", "docs/01-one/faq.md", "# Questions\n",
			"docs/01-one.md: this page does not link to docs/01-one/faq.md"),
		appended("next page", page, "\nNext: [two](../README.md).\n",
			`docs/01-one.md: the last paragraph is Next: "../README.md"; in the contents, "" is next`),
		removed("no front page", "README.md", "README.md: this page is missing"),
	})
}

func TestShapeAllows(t *testing.T) {
	const noProblem = ""
	for _, c := range []badEdit{
		replaced("any headings", "docs/01-one.md", "## Run it\n", "## a\n\n### b\n\n## Run it\n", noProblem),
		replaced("contents by reference, with an anchor", "docs/README.md", "[One](01-one.md)",
			"[One]\n\n[one]: ./01-one.md#run-it", noProblem),
		appended("folders that are no chapters", "scripts/1-x/testdata/a.txt", "a\n", noProblem),
		appended("file named as a chapter", "02-two", "a\n", noProblem),
		appended("Markdown in the lab", "docs/lab/a/notes.md", "```go\nx := 1\n```\n", noProblem),
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.edit(t, tree)
			wantNone(t, tree)
		})
	}
}

// morePages adds pages to the good tree: one that comes after 01-one.md, the front page of a
// folder, a page in this folder, and one in which a reader looks things up.
func morePages(t *testing.T) fstest.MapFS {
	t.Helper()
	tree := goodTree(t)
	tree["docs/README.md"] = file("# Contents\n\n[One](01-one.md), [two](two.md), [the guide](guide.md)\n\n" +
		"## Reference\n\n[Words](words.md)\n")
	appendText(tree, "docs/01-one.md", "\nNext: [two](two.md),\nor stop.\n")
	tree["docs/two.md"] = file("# Two\n\nNext: [the guide](guide.md).\n")
	tree["docs/guide.md"] = file("# Guide\n\n[Lines of a log](guide/log.md)\n")
	tree["docs/guide/log.md"] = file("# Log\n\n[It pops](../../01-one/claims_test.go \"TestPop\").\n\n" +
		"<!-- code 01-one/queue.go bare -->\n```go\nfunc bare() {}\n```\n")
	tree["docs/words.md"] = file("# Words\n\nSee [the log](guide/log.md#log).\n")
	return tree
}

// Pages in folders are checked like all others.
func TestMorePages(t *testing.T) {
	wantNone(t, morePages(t))
	const inFolder = "docs/guide/log.md"
	for _, c := range []badEdit{
		replaced("claim", inFolder, `"TestPop"`, `"TestPush"`,
			inFolder+":3: there is no TestPush in 01-one/claims_test.go"),
		replaced("stale block", inFolder, "func bare() {}", "func bare()",
			inFolder+":5: the block below is not what `code 01-one/queue.go bare` gives: …"),
		replaced("link from a folder", inFolder, "../../01-one", "../01-one",
			inFolder+":3: dead link ../01-one/claims_test.go: there is no docs/01-one/claims_test.go"),
		replaced("link into a folder", "docs/words.md", "#log", "#lost",
			"docs/words.md:3: dead link guide/log.md#lost: no heading of docs/guide/log.md has the anchor #lost"),
		appended("next in a folder", inFolder, "\nNext: [words](../words.md).\n",
			inFolder+`: the last paragraph is Next: "../words.md"; in the contents, "" is next`),
		appended("next of a reference", "docs/words.md", "\nNext: [two](two.md).\n",
			`docs/words.md: the last paragraph is Next: "two.md"; in the contents, "" is next`),
		replaced("no next", "docs/two.md", "Next: ", "Then: ",
			`docs/two.md: the last paragraph is Next: ""; in the contents, "guide.md" is next`),
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := morePages(t)
			c.edit(t, tree)
			wantProblem(t, tree, c.want)
		})
	}
}

// A step may be on any page.
func TestAStepOnAnotherPage(t *testing.T) {
	tree := morePages(t)
	tree["01-one/step_list.go"] = file("package main\n")
	appendText(tree, "docs/words.md", "\n<!-- code 01-one/step_list.go -->\n```go\npackage main\n```\n")
	wantNone(t, tree)
}

func TestMissingPages(t *testing.T) {
	got := problems(t, fstest.MapFS{"docs/more.md": file(""), "docs/steps.json": file("{}")})
	want := []string{"README.md: this page is missing", "docs/README.md: this page is missing"}
	if !slices.Equal(got, want) {
		t.Errorf("problems = %q, want %q", got, want)
	}
}
