// Tests of claims whose test is there, and is never run.

package book

import (
	"strings"
	"testing"
)

// proof is the file that the page of the good tree links to for its claim.
type proof struct {
	name string
	file string // in 01-one
	text string // all of it, or what comes after the imports
	want string // why the test never runs; "" if it does
}

// check links to the test in that file.
func (c proof) check(t *testing.T, test string) {
	t.Helper()
	if !strings.Contains(c.text, "package one") {
		c.text = "package one\n\nimport \"testing\"\n\n" + c.text
	}
	tree := goodTree(t)
	tree["01-one/"+c.file] = file(c.text + "\n")
	link := "[" + test + "](../01-one/" + c.file + ")"
	badEdit{file: "docs/01-one.md", old: "[TestPop](../01-one/claims_test.go)", new: link}.apply(t, tree)
	want := ""
	if c.want != "" {
		want = "docs/01-one.md:36: " + test + " in 01-one/" + c.file + " never runs: " + c.want
	}
	if got := strings.Join(problems(t, tree), "\n"); got != want {
		t.Errorf("problems:\n%s\nwant:\n%s", got, want)
	}
}

func TestFilesThatAreNotTested(t *testing.T) {
	const pop = "func TestPop(t *testing.T) {}"
	const leftOut = "`go test -race` on linux/amd64 leaves the file out, by its name or its //go:build line"
	const noTestFile = "`go test` looks for tests in _test.go files only, so link to one"
	for _, c := range []proof{
		{"build constraint", "a_test.go", "//go:build windows\n\npackage one\n\n" + pop, leftOut},
		{"tag that nobody gives", "a_test.go", "// Its comment.\n\n//go:build linux && slow\n\npackage one\n\n" + pop,
			leftOut},
		{"without the race detector", "a_test.go", "//go:build !race\n\npackage one\n\n" + pop, leftOut},
		{"another system", "a_windows_test.go", pop, leftOut},
		{"underscore", "_a_test.go", pop, leftOut},
		{"no test file", "a.go", pop, noTestFile},
		{"test at the end of another word", "atest.go", pop, noTestFile},

		{"build constraint that holds", "a_test.go", "//go:build unix && race && go1.26\n\npackage one\n\n" + pop, ""},
		{"this system", "a_linux_test.go", pop, ""},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, "TestPop") })
	}
	runBadEdits(t, []badEdit{
		{"folder", "docs/01-one.md", "", "\n[TestPop](../01-one)\n",
			"docs/01-one.md:53: TestPop in 01-one never runs: " + noTestFile},
	})
}

func TestAHeadingMayBeCalledExample(t *testing.T) {
	tree := goodTree(t)
	badEdit{file: "docs/01-one.md", new: "\n### Example\n\nSee the [Example](#example).\n"}.apply(t, tree)
	wantNone(t, tree)
}

func TestFunctionsThatNothingRuns(t *testing.T) {
	const skips = "it always skips"
	for _, c := range []struct{ test, function, want string }{
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
			proof{file: "a_test.go", text: c.function, want: c.want}.check(t, c.test)
		})
	}
}
