// Tests of links from files that are not pages.

package book

import "testing"

func TestDeadReferences(t *testing.T) {
	const lost = "there is no docs/lost.md"
	runBadEdits(t, []badEdit{
		replaced("page in an exercise", "01-one/practice/pop.md", "01-one.md#the-code", "lost.md",
			"01-one/practice/pop.md:3: dead link ../../docs/lost.md: "+lost),
		replaced("section in an exercise", "01-one/practice/pop.md", "#the-code", "#lost",
			"01-one/practice/pop.md:3: dead link ../../docs/01-one.md#lost: "+
				"no heading of docs/01-one.md has the anchor #lost"),
		appended("page in backquotes", "CONTRIBUTING.md", "# Rules\n\nSee `docs/lost.md`.\n",
			"CONTRIBUTING.md:3: dead link docs/lost.md: "+lost),
		replaced("comment", "01-one/main.go", "docs/01-one.md.", "docs/lost.md.",
			"01-one/main.go:1: dead link docs/lost.md: "+lost),
		replaced("section in a string", "01-one/main.go", "#the-idea", "#lost",
			"01-one/main.go:4: dead link docs/01-one.md#lost: no heading of docs/01-one.md has the anchor #lost"),
		replaced("section without a folder", "01-one/main.go", `"docs/01-one.md`, `"lost.md`,
			"01-one/main.go:4: dead link lost.md#the-idea: "+lost),
		appended("comment of a test", "01-one/claims_test.go", "\n// It is on docs/lost.md.\n",
			"01-one/claims_test.go:25: dead link docs/lost.md: "+lost),
		replaced("comment of a script", "scripts/read.sh", "01-one", "lost",
			"scripts/read.sh:2: dead link docs/lost.md: "+lost),
		appended("in the lab", "docs/lab/a.go", "// Package a is on docs/guide/lost.md.\npackage a\n",
			"docs/lab/a.go:1: dead link docs/guide/lost.md: there is no docs/guide/lost.md"),
	})
}

func TestReferencesThatAreNotFollowed(t *testing.T) {
	for _, c := range []badEdit{
		appended("string of a test", "01-one/claims_test.go", "\nvar page = \"docs/lost.md\"\n", ""),
		appended("pattern", "01-one/a.go", "// Reads docs/*.md.\npackage main\n", ""),
		appended("another project", "01-one/a.go", "// See https://example.com/x/docs/lost.md#a.\npackage main\n", ""),
		appended("another file", "01-one/a.go", "// See practice/NAME.md.\npackage main\n", ""),
		appended("another tool", "web/node_modules/x/README.md", "[a](lost.md)\n", ""),
		appended("a cluster", ".cluster/README.md", "[a](lost.md)\n", ""),
	} {
		t.Run(c.name, func(t *testing.T) {
			tree := goodTree(t)
			c.edit(t, tree)
			wantNone(t, tree)
		})
	}
}
