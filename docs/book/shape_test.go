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
	all := "every chapter page has # Name of the chapter, ## What you will see, ## The idea, ## The code, ## Run " +
		"it, ## How client-go does it today, ## Where people trip, ## Try it yourself"
	runBadEdits(t, []badEdit{
		{"chapter without a page", "02-two/go.mod", "", "module two\n",
			"docs/02-two.md: the page of chapter 02-two is missing"},
		{"output not shown", "01-one/testdata/list.txt", "", "[]\n",
			"docs/01-one.md: the page does not show 01-one/testdata/list.txt: add <!-- output " +
				"01-one/testdata/list.txt --> and run `go run ./docs`"},
		{"output shown as code", page, "<!-- output 01-one", "<!-- code 01-one",
			"docs/01-one.md: the page does not show 01-one/testdata/pop.txt: …"},
		{"section renamed", page, "## The idea", "## the idea",
			"docs/01-one.md:10: here comes ## The idea, not ## the idea: " + all},
		{"section missing", page, "## Run it", "### Run it",
			"docs/01-one.md:34: here comes ## Run it, not ## How client-go does it today: " + all},
		{"last section missing", page, "## Try it yourself", "### Try it yourself",
			"docs/01-one.md: ## Try it yourself is missing"},
		{"section too many", page, "", "\n## Further reading\n",
			"docs/01-one.md:53: ## Further reading is one heading too many: make it ### (which is free)"},
		{"no title", page, "# One\n", "One\n",
			"docs/01-one.md:3: here comes # Name of the chapter, not ## What you will see: " + all},
		{"second title", page, "", "\n# Two\n",
			"docs/01-one.md:53: # Two is one heading too many: make it ### (which is free)"},
		{"page not in the contents", "docs/faq.md", "", "# Questions\n",
			"docs/README.md: the contents page does not link to faq.md"},
		{"no front page", "README.md", "", "", "README.md: the front page is missing"},
	})
}

func TestShapeAllows(t *testing.T) {
	runs := []badEdit{
		{name: "subheadings", file: "docs/01-one.md", old: "## The code\n", new: "## The code\n\n### a\n\n#### b\n"},
		{name: "contents by reference, with an anchor", file: "docs/README.md", old: "[One](01-one.md)",
			new: "[One]\n\n[one]: ./01-one.md#run-it"},
		{name: "folders that are no chapters", file: "scripts/1-x/testdata/a.txt", new: "a\n"},
		{name: "file named as a chapter", file: "02-two", new: "a\n"},
	}
	for _, c := range runs {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.apply(t, tree)
			if got := problems(t, tree); len(got) > 0 {
				t.Errorf("problems: %q", got)
			}
		})
	}
}

// A chapter may have a second page: of the same build, and its outputs count.
func TestSecondPage(t *testing.T) {
	const name = "docs/01-one-more.md"
	build := func(heading, changed string) fstest.MapFS {
		tree := goodTree(t)
		tree["01-one/testdata/list.txt"] = file("[]\n")
		page := strings.ReplaceAll(strings.Replace(chapterPage, "BLOCK\n", "```text\n```\n", 1), "BLOCK", "```")
		page = strings.Replace(page, "testdata/pop.txt", "testdata/list.txt", 1)
		tree[name] = file(strings.Replace(page, heading, changed, 1))
		tree["docs/README.md"] = file("# Contents\n\n1. [One](01-one.md), [more](01-one-more.md)\n")
		rewriteTree(t, tree)
		return tree
	}
	if got := problems(t, build("", "")); len(got) > 0 {
		t.Errorf("problems: %q", got)
	}
	got := problems(t, build("## Try it yourself", "### Try it yourself"))
	if want := []string{name + ": ## Try it yourself is missing"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMissingPages(t *testing.T) {
	got := problems(t, fstest.MapFS{"docs/more.md": file("")})
	want := []string{
		"README.md: the front page is missing",
		"docs/README.md: the contents page is missing",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
