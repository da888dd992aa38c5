// Tests of claims that link to a subtest.

package book

import (
	"fmt"
	"testing"
	"testing/fstest"
)

// A test with every form of subtest that the check finds. Strings in capitals name no subtest.
const subtestsTest = `package one

import (
	"testing"

	"example.com/informer/01-one/onetest"
)

func TestPop(t *testing.T) {
	t.Run("a string", func(t *testing.T) { t.Log("NO NAME") })
	t.Run("outer", func(t *testing.T) {
		t.Run("inner", nil)
	})
	for _, test := range []struct{ number int; name string }{
		{1, "by position"},
		{name: "by field"},
	} {
		t.Run(test.name, nil)
	}
	for name, test := range map[string]func(*testing.T){"key": nil} {
		t.Run(name, test)
	}
	onetest.Run(t, nil)
	t.Run(computed("COMPUTED"), nil)
	reader.Run("THREE ARGUMENTS", 1, 2)
}
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

func inPackage(t *testing.T) { t.Run("a part/of it", nil) }
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
		"a string", "a_string", "outer", "outer/inner", "by position", "by field", "key", "in a package",
		"in a package/a part/of it",
	} {
		t.Run(name, func(t *testing.T) { wantNone(t, withClaim(t, "TestPop/"+name)) })
	}
}

func TestAClaimOfASubtestThatIsNotRun(t *testing.T) {
	for _, name := range []string{
		"", "lost", "a string/", "a string/lost", "lost/inner", "a strin", "NO NAME", "COMPUTED", "THREE ARGUMENTS",
	} {
		t.Run(name, func(t *testing.T) {
			wantProblem(t, withClaim(t, "TestPop/"+name), fmt.Sprintf("docs/01-one.md:66: TestPop in "+
				"01-one/sub_test.go: no subtest has the name %q, as a string in t.Run or in a table", name))
		})
	}
	wantProblem(t, withClaim(t, "TestLost/a string"), "docs/01-one.md:66: there is no TestLost in 01-one/sub_test.go")
	wantProblem(t, withClaim(t, "it pops/a string"),
		"docs/01-one.md:66: the link to 01-one/sub_test.go must be called by …")
}
