// Checking claims: `go test` runs the test that a page links to.

package book

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// testName matches the names of functions that `go test` takes for tests. A
// benchmark proves no claim: pages link to it as the source of a figure.
var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)([\pN_\p{Lu}\p{Lt}\p{Lm}\p{Lo}][\pL\pN_]*)?$`)

// testKind returns the kind of test that a function of that name is, or "".
func testKind(name string) string {
	if m := testName.FindStringSubmatch(name); m != nil && name != "TestMain" {
		return m[1]
	}
	return ""
}

// checkClaim holds a link to a test file to name a test in it, as its title or
// its text, and one that is run: that is how a claim stays tied to its proof.
func (b *Book) checkClaim(file string, l link) error {
	name := cmp.Or(l.title, l.text)
	isTest, isTestFile := testKind(name) != "", strings.HasSuffix(file, "_test.go")
	switch {
	case isTestFile && isTest:
		return b.checkTest(file, name)
	case isTestFile:
		return fmt.Errorf("the link to %s must be called by the test that shows it, as in [TestName](%s) "+
			"or [✓](%s \"TestName\"), not %q: `go test` runs no test of that name", file, l.target, l.target, name)
	case isTest && path.Ext(file) != ".md": // a heading may be called Example
		return fmt.Errorf("%s in %s never runs: "+
			"`go test` looks for tests in _test.go files only, so link to one", name, file)
	}
	return nil
}

// parameters of the kinds of tests; an Example has none.
var parameters = map[string]string{"Test": "t *testing.T", "Fuzz": "f *testing.F", "Benchmark": "b *testing.B"}

// checkTest returns an error unless `go test` runs name in the given file.
func (b *Book) checkTest(file, name string) error {
	source, err := fs.ReadFile(b.ws, file)
	if err != nil {
		return err
	}
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("looking for the test %s: %w", name, err)
	}
	i := slices.IndexFunc(tree.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Body != nil && f.Name.Name == name
	})
	if i < 0 {
		return fmt.Errorf("there is no %s in %s", name, file)
	}
	f, kind := tree.Decls[i].(*ast.FuncDecl), testKind(name)
	built, err := isBuilt(file, source)
	why := ""
	switch {
	case err != nil:
		return fmt.Errorf("looking for the test %s: %w", name, err)
	case passedOver.MatchString(file):
		why = "`go test` passes over what starts with _ or a dot, and over testdata"
	case !built:
		why = "`go test -race` on linux/amd64 leaves the file out, by its name or its //go:build line"
	case !hasSignature(f, parameters[kind]):
		why = fmt.Sprintf("it must be func %s(%s)", name, parameters[kind])
	case kind == "Example" && !hasOutput(tree, name):
		why = "it has no // Output: comment"
	case kind == "Fuzz" && !b.hasInput(file, f):
		why = "`go test` has no input for it: give one with f.Add"
	case newSkipFinder(files, tree).skips(f.Body, parameterOf(f.Type)):
		why = "it always skips"
	default:
		return nil
	}
	return fmt.Errorf("%s in %s never runs: %s", name, file, why)
}

// passedOver matches files that ./... does not.
var passedOver = regexp.MustCompile(`(^|/)([_.]|testdata/)`)

// isBuilt says whether the file is part of what CI tests. The answer is the same
// on every system.
func isBuilt(file string, source []byte) (bool, error) {
	ci := build.Default
	ci.GOOS, ci.GOARCH, ci.BuildTags = "linux", "amd64", []string{"race"}
	ci.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(source)), nil }
	return ci.MatchFile(path.Dir(file), path.Base(file))
}

func hasSignature(f *ast.FuncDecl, parameter string) bool {
	if f.Type.TypeParams.NumFields() > 0 || f.Type.Results.NumFields() > 0 {
		return false
	}
	if parameter == "" {
		return f.Type.Params.NumFields() == 0
	}
	_, want, _ := strings.Cut(parameter, " ")
	return f.Type.Params.NumFields() == 1 && types.ExprString(f.Type.Params.List[0].Type) == want
}

func hasOutput(tree *ast.File, name string) bool {
	return slices.ContainsFunc(doc.Examples(tree), func(e *doc.Example) bool {
		return "Example"+e.Name == name && (e.Output != "" || e.EmptyOutput)
	})
}

// hasInput says whether a fuzz test is run on something when nobody fuzzes.
func (b *Book) hasInput(file string, f *ast.FuncDecl) bool {
	saved, _ := fs.Glob(b.ws, path.Join(path.Dir(file), "testdata/fuzz", f.Name.Name, "*"))
	found := len(saved) > 0
	ast.Inspect(f.Body, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && types.ExprString(call.Fun) == parameterOf(f.Type)+".Add"
		return !found
	})
	return found
}

// parameterOf returns the name of a function's first parameter, or "_".
func parameterOf(f *ast.FuncType) string {
	if f.Params.NumFields() == 0 || len(f.Params.List[0].Names) == 0 {
		return "_"
	}
	return f.Params.List[0].Names[0].Name
}
