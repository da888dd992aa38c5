// Tests of the numbers that say how long pages are.

package book

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// longPages is a tree with pages whose figures are easy to compute.
func longPages(t *testing.T) fstest.MapFS {
	t.Helper()
	tree := goodTree(t)
	tree["02-two/step_walk.go"] = file("package main\n" + strings.Repeat("// walk\n", 39))
	tree["02-two/testdata/walk.txt"] = file(strings.Repeat("left, right\n", 20))
	tree["02-two/practice/run.md"] = file("# Run\n\nAbout 50 minutes, easy.\n")
	tree["02-two/practice/jump.md"] = file("# Jump\n\nAbout 45 minutes, hard.\n")
	tree["docs/02-two.md"] = file("# Two\n\n" + strings.Repeat("Words of it. ", 299) + "Its\nend.\n\n" +
		"## Walk\n\n" + strings.Repeat("Left, right. ", 90) + "\n\n" +
		"<!-- code 02-two/step_walk.go -->\n\n<!-- output 02-two/testdata/walk.txt -->\n\n" +
		"### Faster\n\n| a | table |\n|---|---|\n" +
		"| [run](../02-two/practice/run.md) | and once more [run](../02-two/practice/run.md) |\n\n" +
		"## Jump\n\n[Jump](../02-two/practice/jump.md).\n\nNext: [three](02-two-more.md).\n")
	tree["docs/02-two-more.md"] = file("# More\n\n" + strings.Repeat("word ", 17_599) + "\n")
	tree["docs/README.md"] = file("# Contents\n\n[One](01-one.md), [two](02-two.md), [more](02-two-more.md)\n")
	appendText(tree, "docs/01-one.md", "\nNext: [two](02-two.md).\n")
	rewriteTree(t, tree)
	return tree
}

func TestFigures(t *testing.T) {
	for figure, want := range map[string]string{
		"words 02-two":          "1,100",  // 1,095
		"words 02-two#jump":     "4",      // with the heading
		"words 02-*":            "19,000", // 18,695
		"words 02-two#faster":   "8",
		"minutes 02-two#walk":   "6", // 190 words in 1.1 minutes, 60 lines in 3, and a step
		"minutes 02-two":        "11",
		"minutes 02-*":          "110",
		"hours 02-*":            "2",
		"hours 02-two 01-one":   "0",
		"exercises 02-two":      "1.5", // run counts once
		"exercises 02-two#walk": "1",
		"exercises 01-*":        "0",
	} {
		t.Run(figure, func(t *testing.T) {
			tree := longPages(t)
			front := "# Front\n\n| it | takes |\n|---|---|\n| a | <!-- " + figure + " -->"
			tree["README.md"] = file(front + "7.5. |\n")
			b := load(t, tree)
			got, _, broken := b.renderFigures(b.pages["README.md"])
			if diff := cmp.Diff(front+want+". |\n", got); diff != "" || len(broken) > 0 {
				t.Errorf("broken %q; the page differs (-want +got):\n%s", broken, diff)
			}
			wantProblem(t, tree, "README.md:5: <!-- "+figure+" --> gives "+want+`, not "7.5": …`)
			tree["README.md"] = file(got)
			wantNone(t, tree)
		})
	}
}

func TestBadFigures(t *testing.T) {
	const at = "README.md:5: "
	for name, c := range map[string]struct{ text, want string }{
		"no page": {"It: <!-- words 09-* -->1", at + "<!-- words 09-* -->: there is no page 09-*"},
		"no section": {"It: <!-- words 02-two#run -->1",
			at + "<!-- words 02-two#run -->: no heading of docs/02-two.md has the anchor #run"},
		"no region":  {"It: <!-- hours -->1", at + "write <!-- minutes PAGE… -->, or words, hours or exercises"},
		"in no text": {"<!-- hours 01-one -->1 hour", at + "this line begins with a comment, so it is not text: …"},
		"no exercise": {"It: <!-- exercises lost -->1",
			at + "<!-- exercises lost -->: 01-one/practice/pop.md has no line like …"},
		"on two lines": {"It: <!-- hours 01-one\n  02-two -->1",
			`README.md:6: <!-- hours 01-one 02-two --> gives 0, not "1": …`},
		"not there yet": {"It: <!-- words 02-two -->", at + `<!-- words 02-two --> gives 1,100, not "": …`},
	} {
		t.Run(name, func(t *testing.T) {
			tree := longPages(t)
			tree["docs/README.md"] = file(string(tree["docs/README.md"].Data) + "\n## Reference\n\n[Lost](lost.md)\n")
			tree["docs/lost.md"] = file("# Lost\n\n[Pop](../01-one/practice/pop.md)\n")
			tree["README.md"] = file("# Front\n\nText.\n\n" + c.text + "\n")
			wantProblem(t, tree, c.want)
		})
	}
}

// A comment in a block is not a figure.
func TestNoFigures(t *testing.T) {
	tree := longPages(t)
	tree["README.md"] = file("# Front\n\n```sh\n# <!-- words lost -->1\n```\n\n" +
		"`<!-- hours lost -->` and <!-- a note -->1\n")
	wantNone(t, tree)
}

// Rewrite computes the figures after it has written the blocks, because the lines of blocks count.
func TestRewriteWritesFigures(t *testing.T) {
	root := t.TempDir()
	tree := longPages(t)
	tree["README.md"] = file("# Front\n\nThe walk takes <!-- minutes 02-two#walk -->0 minutes.\n")
	tree["02-two/step_walk.go"] = file("package main\n" + strings.Repeat("// walk\n", 79))
	if err := os.CopyFS(root, tree); err != nil {
		t.Fatal(err)
	}
	for run, want := range []string{"rewritten: docs/02-two.md\nrewritten: README.md\n", ""} {
		var out strings.Builder
		if err := Rewrite(root, &out); err != nil || out.String() != want {
			t.Errorf("run %d: Rewrite() printed %q, error %v; want %q, nil", run+1, out.String(), err, want)
		}
	}
	const want = "# Front\n\nThe walk takes <!-- minutes 02-two#walk -->8 minutes.\n"
	if got := read(t, filepath.Join(root, "README.md")); got != want {
		t.Errorf("after Rewrite(), the page is %q, want %q", got, want)
	}
}
