// Tests of links: which links a page has, dead links, live links, and claims.

package book

import (
	"fmt"
	"slices"
	"testing"
)

func TestLinks(t *testing.T) {
	cases := []struct {
		name, text string
		want       []string // "line text -> target", sorted
	}{
		{"inline", "a\n[b](c)", []string{"2 b -> c"}},
		{"title", `[b](c "d e") [f](g 'h')`, []string{"1 b -> c", "1 f -> g"}},
		{"image", "![b](c.png)", []string{"1 b -> c.png"}},
		{"code in the text", "[`b[0]`](c)", []string{"1 b[0] -> c"}},
		{"over two lines", "[a\nb](c)\n", []string{"1 a b -> c"}},
		{"reference", "[a][B  c]\n\n[b C]: d\n", []string{"1 a -> d"}},
		{"shortcut reference", "See [a].\n\n[a]: <d> \"title\"\n", []string{"1 a -> d"}},
		{"undefined shortcut is text", "- [ ] a[0]\n", nil},
		{"bare in <>", "<https://example.com/>", []string{"1  -> https://example.com/"}},
		{"in code span", "`[a](b)` ``[c](`d)``", nil},
		{"in a block", "```sh\n[a](b)\n```\n[c](d)", []string{"4 c -> d"}},
		{"in a comment", "<!-- [a](b)\n\n[c](d) -->\n[e](f) <!-- [g](h) -->", []string{"4 e -> f"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, l := range parsePage("x.md", []byte(c.text)).links {
				got = append(got, fmt.Sprintf("%d %s -> %s", l.line+1, l.text, l.target))
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) {
				t.Errorf("links of %q:\n  %q\nwant\n  %q", c.text, got, c.want)
			}
		})
	}
}

func TestDeadLinks(t *testing.T) {
	const page = "docs/01-one.md"
	at := func(text string) string { return "docs/01-one.md:66: " + text }
	runBadEdits(t, []badEdit{
		appended("no such file", page, "\n[a](lost.md)\n", at("dead link lost.md: there is no docs/lost.md")),
		appended("image", page, "\n![a](lost.png)\n", at("dead link lost.png: there is no docs/lost.png")),
		appended("reference", page, "\n[a][b]\n\n[b]: lost.md\n", at("dead link lost.md: there is no docs/lost.md")),
		replaced("on the front page", "README.md", "docs/README.md", "docs/lost.md",
			"README.md:3: dead link docs/lost.md: there is no docs/lost.md"),
		appended("out of the workspace", page, "\n[a](../../b)\n", at("dead link ../../b: there is no ../b")),
		appended("from the root", page, "\n[a](/docs/README.md)\n",
			at(`malformed link "/docs/README.md": write https://host/… or a path from this page`)),
		appended("no such heading here", page, "\n[a](#lost)\n",
			at("dead link #lost: no heading of docs/01-one.md has the anchor #lost")),
		appended("no such heading there", page, "\n[a](README.md#lost)\n",
			at("dead link README.md#lost: no heading of docs/README.md has the anchor #lost")),
		replaced("heading renamed", page, "[the idea](#the-idea)", "[the idea](#The-Idea)",
			"docs/01-one.md:40: dead link #The-Idea: no heading of docs/01-one.md has the anchor #The-Idea"),
		appended("line number", page, "\n[a](../01-one/queue.go#L3)\n",
			at("dead link ../01-one/queue.go#L3: only a heading of a .md file can be linked to (line numbers move)")),
		appended("bad escape", page, "\n[a](https://example.com/%zz)\n",
			at(`malformed link https://example.com/%zz: invalid URL escape "%zz"`)),
		appended("other scheme", page, "\n[a](file://b/c)\n",
			at(`malformed link "file://b/c": write https://host/… or a path from this page`)),
		appended("no scheme", page, "\n[a](//example.com)\n",
			at(`malformed link "//example.com": write https://host/… or a path from this page`)),
		appended("empty", page, "\n[a]()\n", at(`malformed link "": write https://host/… or a path from this page`)),
		appended("spaces", page, "\n[a](b c)\n", at("…a](b… is not a link: …")),
		appended("undefined reference", page, "\n[a][b]\n", at("…a][… is not a link: …")),
		appended("in a table", page, "\n| a |\n|---|\n| [b](lost.md) |\n",
			"docs/01-one.md:68: dead link lost.md: there is no docs/lost.md"),
	})
}

func TestLiveLinks(t *testing.T) {
	targets := []string{
		"README.md", "./README.md", "../README.md", "README.md#contents", "#run-it", "../01-one", "../01-one/",
		"../01-one/queue.go",
		"https://example.com/a?b=c#d", "http://localhost:8080/", "../01-one/notes.md#a-note", "a%20b.md",
	}
	for _, target := range targets {
		t.Run(target, func(t *testing.T) {
			tree := goodTree(t)
			tree["01-one/notes.md"] = file("# A note\n")
			tree["docs/a b.md"] = file("# With a space\n")
			tree["docs/README.md"] = file("[One](01-one.md), [space](<a b.md>)\n\n# Contents\n")
			appendText(tree, "docs/01-one.md", "\n[a]("+target+")\n\nNext: [space](<a b.md>).\n")
			wantNone(t, tree)
		})
	}
}

func TestClaims(t *testing.T) {
	const page, claim = "docs/01-one.md", "[TestPop]("
	at := func(text string) string { return "docs/01-one.md:36: " + text }
	runBadEdits(t, []badEdit{
		replaced("test renamed", "01-one/claims_test.go", "TestPop(", "TestPopped(",
			at("there is no TestPop in 01-one/claims_test.go")),
		removed("test file gone", "01-one/claims_test.go",
			at("dead link ../01-one/claims_test.go: there is no 01-one/claims_test.go")),
		replaced("test file broken", "01-one/claims_test.go", "package one", "pakcage one",
			at("looking for the test TestPop: 01-one/claims_test.go:1:1: …")),
		replaced("no test name", page, claim, "[it pops](",
			at("the link to 01-one/claims_test.go must be called by the test that shows it, as in "+
				"[TestName](../01-one/claims_test.go) or [✓](../01-one/claims_test.go \"TestName\"), not \"it "+
				"pops\": `go test` runs no test of that name")),
		replaced("name and words", page, claim, "[TestPop pops](",
			at("the link to 01-one/claims_test.go must be called by …")),
		replaced("not a test", page, claim, "[TestMain](", at("the link to 01-one/claims_test.go must be called by …")),
		replaced("a lower-case letter after Test", page, claim, "[Testpop](",
			at("the link to 01-one/claims_test.go must be called by …")),
		replaced("a variable", page, claim, "[TestVar](", at("there is no TestVar in 01-one/claims_test.go")),
		replaced("no body", "01-one/claims_test.go", "TestPop(t *testing.T) {}", "TestPop(t *testing.T)",
			at("there is no TestPop in 01-one/claims_test.go")),
		replaced("a method", page, claim, "[TestMethod](", at("there is no TestMethod in 01-one/claims_test.go")),
		replaced("an example that is not run", page, claim, "[ExampleQueue_Pop](",
			at("ExampleQueue_Pop in 01-one/claims_test.go never runs: it has no // Output: comment")),
		appended("by reference", page, "\n[Pop][t]\n\n[t]: ../01-one/claims_test.go\n",
			"docs/01-one.md:66: the link to 01-one/claims_test.go must be called by …"),
		appended("mark of a test that is gone", page, "\nIt pops. [✓](../01-one/claims_test.go \"TestPopped\")\n",
			"docs/01-one.md:66: there is no TestPopped in 01-one/claims_test.go"),
		appended("mark without a test", page, "\nIt pops. [✓](../01-one/claims_test.go)\n",
			"docs/01-one.md:66: the link to 01-one/claims_test.go must be called by …"),
		appended("mark with a quote missing", page, "\nIt pops. [✓](../01-one/claims_test.go \"TestPop)\n",
			"docs/01-one.md:66: …✓](../01-one/claims_… is not a link: …"),
	})
}

func TestClaimsOfTestsThatRun(t *testing.T) {
	const page = "docs/01-one.md"
	for _, link := range []string{"[✓](../01-one/claims_test.go \"TestPop\")",
		"| a |\n|---|\n| b [✓](../01-one/claims_test.go 'FuzzPop') |"} {
		tree := goodTree(t)
		appendText(tree, page, "\n"+link+"\n")
		wantNone(t, tree)
	}
	for _, name := range []string{"TestPop", "`TestPop`", "FuzzPop", "BenchmarkPop", "ExampleQueue"} {
		tree := goodTree(t)
		replaceText(t, tree, page, "[TestPop](", "["+name+"](")
		wantNone(t, tree)
	}
}

// inPackage adds a package clause and an import to the declarations of a test file.
func inPackage(declarations string) string {
	return "package one\n\nimport \"testing\"\n\n" + declarations + "\n"
}

// checkProof adds a file to chapter 01-one of the good tree, and links a claim to a test in this
// file. Reason says why the test never runs. If it is "", the page must have no problem.
func checkProof(t *testing.T, test, name, text, reason string) {
	t.Helper()
	tree := goodTree(t)
	tree["01-one/"+name] = file(text)
	replaceText(t, tree, "docs/01-one.md", "[TestPop](../01-one/claims_test.go)", "["+test+"](../01-one/"+name+")")
	if reason == "" {
		wantNone(t, tree)
		return
	}
	wantProblem(t, tree, "docs/01-one.md:36: "+test+" in 01-one/"+name+" never runs: "+reason)
}

func TestFilesThatAreNotTested(t *testing.T) {
	pop := inPackage("func TestPop(t *testing.T) {}")
	const excluded = "its file is not for every system, by its name or its //go:build line"
	const noTestFile = "`go test` looks for tests in _test.go files only, so link to one"
	for _, c := range []struct{ name, file, text, reason string }{
		{"build constraint", "a_test.go", "// A comment.\n\n//go:build slow\n\n" + pop, excluded},
		{"another system", "a_windows_test.go", pop, excluded},
		{"underscore", "_a_test.go", pop, excluded},
		{"testdata", "testdata/a_test.go", pop, excluded},
		{"no test file", "a.go", pop, noTestFile},
		{"no system at all", "windows_test.go", pop, ""},
	} {
		t.Run(c.name, func(t *testing.T) { checkProof(t, "TestPop", c.file, c.text, c.reason) })
	}
	runBadEdits(t, []badEdit{
		appended("folder", "docs/01-one.md", "\n[TestPop](../01-one)\n",
			"docs/01-one.md:66: TestPop in 01-one never runs: "+noTestFile),
	})
}

func TestAHeadingMayBeCalledExample(t *testing.T) {
	tree := goodTree(t)
	appendText(tree, "docs/01-one.md", "\n### Example\n\nSee the [Example](#example).\n")
	wantNone(t, tree)
}

func TestFunctionsThatNothingRuns(t *testing.T) {
	const skips = "it always skips"
	for _, c := range []struct{ test, function, reason string }{
		{"ExamplePop", "func ExamplePop() {}", "it has no // Output: comment"},
		{"TestPop", "func TestPop(t *testing.T) { t.Skip(\"later\") }", skips},
		{"TestPop", "func TestPop(t *testing.T) { t.Parallel(); t.Skipf(\"%d\", 1); t.Error() }", skips},
		{"FuzzPop", "func FuzzPop(f *testing.F) { f.SkipNow() }", skips},
		{"BenchmarkPop", "func BenchmarkPop(b *testing.B) { b.Skip() }", skips},

		{"ExamplePop", "func ExamplePop() {\n\t// Unordered output: 1\n}", ""},
		{"ExamplePop", "func ExamplePop() {\n\t// Output:\n}", ""},
		{"TestPop", "func TestPop(t *testing.T) { if testing.Short() { t.Skip() } }", ""},
		{"TestPop", "func TestPop(t *testing.T) { t.Run(\"\", func(t *testing.T) { t.Skip() }) }", ""},
	} {
		t.Run(c.function, func(t *testing.T) {
			checkProof(t, c.test, "a_test.go", inPackage(c.function), c.reason)
		})
	}
}
