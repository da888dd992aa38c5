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
	const passedOver = "`go test` passes over what starts with _ or a dot, and over testdata"
	const noTestFile = "`go test` looks for tests in _test.go files only, so link to one"
	for _, c := range []proof{
		{"build constraint", "a_test.go", "//go:build windows\n\npackage one\n\n" + pop, leftOut},
		{"tag that nobody gives", "a_test.go", "// Its comment.\n\n//go:build linux && slow\n\npackage one\n\n" + pop,
			leftOut},
		{"ignored", "a_test.go", "//go:build ignore\n\npackage one\n\n" + pop, leftOut},
		{"without the race detector", "a_test.go", "//go:build !race\n\npackage one\n\n" + pop, leftOut},
		{"old build constraint", "a_test.go", "// +build windows\n\npackage one\n\n" + pop, leftOut},
		{"another system", "a_windows_test.go", pop, leftOut},
		{"another processor", "a_linux_arm64_test.go", pop, leftOut},
		{"underscore", "_a_test.go", pop, passedOver},
		{"folder with a dot", ".old/a_test.go", pop, passedOver},
		{"testdata", "testdata/a_test.go", pop, passedOver},
		{"no test file", "a.go", pop, noTestFile},
		{"test at the end of another word", "atest.go", pop, noTestFile},

		{"build constraint that holds", "a_test.go", "//go:build unix && !windows && go1.26\n\npackage one\n\n" + pop,
			""},
		{"with the race detector", "a_test.go", "//go:build race\n\npackage one\n\n" + pop, ""},
		{"this system", "a_linux_test.go", pop, ""},
		{"parameter without a name", "a_test.go", "func TestPop(*testing.T) {}", ""},
		{"no system at all", "windows_test.go", pop, ""},
		{"constraint below the package clause", "a_test.go", "package one\n\n//go:build windows\n\n" + pop, ""},
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
	if got := problems(t, tree); len(got) > 0 {
		t.Errorf("problems: %q", got)
	}
}

func TestFunctionsThatAreNoTests(t *testing.T) {
	const test = "it must be func TestPop(t *testing.T)"
	for _, c := range []struct{ name, function, want string }{
		{"TestPop", "func TestPop()", test},
		{"TestPop", "func TestPop(t *testing.B)", test},
		{"TestPop", "func TestPop(t testing.T)", test},
		{"TestPop", "func TestPop(t, u *testing.T)", test},
		{"TestPop", "func TestPop(t *testing.T, n int)", test},
		{"TestPop", "func TestPop(t *testing.T) int", test},
		{"TestPop", "func TestPop[T any](t *testing.T)", test},
		{"FuzzPop", "func FuzzPop(t *testing.T)", "it must be func FuzzPop(f *testing.F)"},
		{"BenchmarkPop", "func BenchmarkPop(t *testing.T)", "it must be func BenchmarkPop(b *testing.B)"},
		{"ExamplePop", "func ExamplePop(n int)", "it must be func ExamplePop()"},
		{"ExamplePop", "func ExamplePop() int", "it must be func ExamplePop()"},

		{"TestPop", "func TestPop(*testing.T)", ""},
		{"BenchmarkPop", "func BenchmarkPop(b *testing.B)", ""}, // the source of a figure
	} {
		t.Run(c.function, func(t *testing.T) {
			proof{file: "a_test.go", text: c.function + " {\n\t// Output: 1\n}", want: c.want}.check(t, c.name)
		})
	}
}

func TestExamplesAndFuzzTestsThatNothingRuns(t *testing.T) {
	const noInput = "`go test` has no input for it: give one with f.Add"
	for _, c := range []struct{ test, function, want string }{
		{"ExamplePop", "func ExamplePop() {}", "it has no // Output: comment"},
		{"ExamplePop", "func ExamplePop() {\n\t// Unordered output: 1\n}", ""},
		{"ExamplePop", "func ExamplePop() {\n\t// Output:\n}", ""},
		{"FuzzPop", "func FuzzPop(f *testing.F) { f.Fuzz(func(t *testing.T, s string) {}) }", noInput},
		{"FuzzPop", "func FuzzPop(f *testing.F) { for range 3 { f.Add(1) }; f.Fuzz(func(t *testing.T, n int) {}) }",
			""},
	} {
		t.Run(c.function, func(t *testing.T) {
			proof{file: "a_test.go", text: c.function, want: c.want}.check(t, c.test)
		})
	}
	t.Run("input in testdata", func(t *testing.T) {
		tree := goodTree(t)
		tree["01-one/testdata/fuzz/FuzzSaved/1"] = file("go test fuzz v1\nstring(\"\")\n")
		tree["01-one/claims_test.go"] = file("package one\n\nfunc FuzzSaved(f *testing.F) { f.Fuzz(nil) }\n")
		badEdit{file: "docs/01-one.md", old: "[TestPop](", new: "[FuzzSaved]("}.apply(t, tree)
		if got := problems(t, tree); len(got) > 0 {
			t.Errorf("problems: %q", got)
		}
	})
}

func TestTestsThatAlwaysSkip(t *testing.T) {
	for _, body := range []string{
		`t.Skip("later")`,
		`t.Skipf("later than %d", 1)`,
		`t.SkipNow()`,
		`t.Parallel(); t.Skip(); t.Error("it does not pop")`,
		`{ t.Skip() }`,
		`if true { t.Skip() }`,
		`if !false && 1 < 2 { t.Log("no"); t.Skip() }`,
		`if false { t.Log("yes") } else { t.Skip() }`,
		`if testing.Short() { t.Skip("short") } else { t.Skip("long") }`,
		`const broken = true; if broken { t.Skip() }`,
		`if brokenToo { t.Skip() }`,
		`f := func() int { return 1 }; f(); t.Skip()`,
		`synctest.Test(t, func(t *testing.T) { t.Skip() })`,
		`synctest.Test(t, func(tt *testing.T) { tt.Skip() })`,
	} {
		t.Run(body, func(t *testing.T) {
			function := "func TestPop(t *testing.T) { " + body + " }\n\nconst brokenToo = !false"
			proof{file: "a_test.go", text: function, want: "it always skips"}.check(t, "TestPop")
		})
	}
	t.Run("fuzz", func(t *testing.T) {
		function := "func FuzzPop(f *testing.F) { f.Add(1); f.Fuzz(func(t *testing.T, n int) { t.Skip() }) }"
		proof{file: "a_test.go", text: function, want: "it always skips"}.check(t, "FuzzPop")
	})
	t.Run("benchmark", func(t *testing.T) {
		function := "func BenchmarkPop(b *testing.B) { b.Skip() }"
		proof{file: "a_test.go", text: function, want: "it always skips"}.check(t, "BenchmarkPop")
	})
}

func TestTestsThatMaySkip(t *testing.T) {
	for _, body := range []string{
		`if testing.Short() { t.Skip() }`,
		`if runtime.GOOS == "windows" { t.Skip() }`,
		`if false { t.Skip() }`,
		`if 1 { t.Skip() }`, // which does not compile
		`const broken = false; if broken { t.Skip() }`,
		`for range 3 { if pops() { return } }; t.Skip("it does not pop here")`,
		`t.Run("one of two", func(t *testing.T) { t.Skip() }); t.Run("the other", func(t *testing.T) {})`,
		`_ = func() { t.Skip() }`,
		`queue.Skip()`,
		`synctest.Test(t, func(t *testing.T) { if testing.Short() { t.Skip() } })`,
		`synctest.Test(t, body)`,
	} {
		t.Run(body, func(t *testing.T) {
			proof{file: "a_test.go", text: "func TestPop(t *testing.T) { " + body + " }"}.check(t, "TestPop")
		})
	}
}

func TestTestKind(t *testing.T) {
	cases := map[string]string{
		"TestPop": "Test", "Test": "Test", "Test_pop": "Test",
		"ExampleQueue_Pop": "Example", "FuzzPop": "Fuzz", "BenchmarkPop": "Benchmark",
		"Testing": "", "TestMain": "", "Pop": "", "": "", "TestPop/sub": "", "TestPop proves it": "", "testPop": "",
	}
	for name, want := range cases {
		if got := testKind(name); got != want {
			t.Errorf("testKind(%q) = %q, want %q", name, got, want)
		}
	}
}
