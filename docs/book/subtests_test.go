// Tests of claims that link to a subtest.

package book

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// A test with every form of subtest that the check finds. Names in capitals are of no subtest of
// TestPop.
const subtestsTest = `package one

import (
	"testing"
	"testing/synctest"

	"example.com/informer/01-one/onetest"
)

func TestPop(t *testing.T) {
	t.Run("a string", func(t *testing.T) { t.Log("NO NAME") })
	t.Run("outer", func(t *testing.T) {
		t.Run("inner", nil)
	})
	t.Run("skipped", func(t *testing.T) { t.Skip("later") })
	synctest.Test(t, func(t *testing.T) { t.Run("in fake time", nil) })
	for _, test := range []struct{ other, name string }{
		{"OTHER", "by position"},
		{other: "OTHER", name: "by field"},
	} {
		t.Run(test.name, nil)
	}
	for name, test := range map[string]func(*testing.T){
		"key": func(t *testing.T) { t.Run("of a value", nil) },
	} {
		t.Run(name, test)
	}
	rows := []row{{1, "local"}}
	for _, row := range rows {
		t.Run(row.name, nil)
	}
	for _, row := range table {
		t.Run(row.name, nil)
	}
	for _, name := range []string{"of strings"} {
		t.Run(name, inNamedFunction)
	}
	call(t)
	onetest.Run(t, nil)
	onetest.Each(t, func(t *testing.T) { t.Run("in each", nil) })
	t.Run(computed(), nil)
	reader.Run("TWO WORDS", 1, 2)
}

type row struct {
	number int
	name   string
}

var table = []*row{&row{2, "global"}}

func call(t *testing.T) { t.Run("called", nil); call(t) }

func inNamedFunction(t *testing.T) { t.Run("named", nil) }

func unused(t *testing.T) { t.Run("UNUSED", nil) }

func TestOther(t *testing.T) { t.Run("OF ANOTHER", nil) }
`

const onetest = `package onetest

import "testing"

var tests = []struct {
	name string
	run  func(*testing.T)
}{
	{"in a package", inPackage},
}

func Run(t *testing.T, newQueue func()) {
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) { test.run(t) })
	}
}

func inPackage(t *testing.T) { t.Run("deep", nil) }

func Each(t *testing.T, f func(*testing.T)) {
	t.Run("each", func(t *testing.T) { f(t) })
}
`

// withClaim returns the good tree with a claim to a subtest.
func withClaim(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	tree := goodTree(t)
	tree["01-one/sub_test.go"] = file(subtestsTest)
	tree["01-one/onetest/onetest.go"] = file(onetest)
	appendText(tree, "docs/01-one.md", fmt.Sprintf("\nIt pops. [✓](../01-one/sub_test.go %q)\n", name))
	return tree
}

func TestAClaimMayNameASubtest(t *testing.T) {
	for _, name := range []string{
		"a string", "a_string", "outer", "outer/inner", "in fake time", "by position", "by field", "key",
		"key/of a value", "local", "global", "of strings", "of strings/named", "called", "in a package",
		"in a package/deep", "each", "each/in each",
	} {
		t.Run(name, func(t *testing.T) { wantNone(t, withClaim(t, "TestPop/"+name)) })
	}
}

func TestAClaimOfASubtestThatIsNotRun(t *testing.T) {
	for _, name := range []string{
		"", "lost", "a string/", "a string/lost", "a strin", "inner", "outer/a string", "NO NAME", "OTHER",
		"of a value", "computed", "TWO WORDS", "UNUSED", "OF ANOTHER", "in each", "deep", "in each/each",
	} {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, withClaim(t, "TestPop/"+name), fmt.Sprintf(
				"docs/01-one.md:66: TestPop in 01-one/sub_test.go: no subtest has the name %q, as a string in t.Run "+
					`or in a table; found: "a string", "by field", "by position", "called", "each", "global", `+
					`"in a package", "in fake time", "key", "local", "of strings", "outer", "skipped"`, name))
		})
	}
	wantProblem(t, withClaim(t, "TestPop/skipped"),
		`docs/01-one.md:66: TestPop in 01-one/sub_test.go: "skipped" never runs: it always skips`)
	wantProblem(t, withClaim(t, "TestLost/a string"), "docs/01-one.md:66: there is no TestLost in 01-one/sub_test.go")
	wantProblem(t, withClaim(t, "it pops/a string"),
		"docs/01-one.md:66: the link to 01-one/sub_test.go must be called by …")
}
