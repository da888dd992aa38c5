// Checking links: the target exists, and has the anchor or the test that the link names.

package book

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/doc"
	"go/types"
	"io/fs"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
)

// checkLink checks that the target of a link exists, and that a claim links to a test. For a link
// out of the workspace, it checks only the form, and sends no request.
func (b *Book) checkLink(p *page, l link) error {
	u, err := url.Parse(l.target)
	switch {
	case err != nil:
		return fmt.Errorf("malformed link %s: %w", l.target, errors.Unwrap(err))
	case (u.Scheme == "http" || u.Scheme == "https") && u.Host != "":
		return nil
	case l.target == "" || u.Scheme != "" || u.Host != "" || path.IsAbs(u.Path):
		return fmt.Errorf("malformed link %q: write https://host/… or a path from this page", l.target)
	}
	file := path.Join(path.Dir(p.name), cmp.Or(u.Path, path.Base(p.name)))
	if _, err := fs.Stat(b.ws, file); err != nil {
		return fmt.Errorf("dead link %s: there is no %s", l.target, file)
	}
	if u.Fragment != "" {
		if err := b.checkFragment(file, u.Fragment); err != nil {
			return fmt.Errorf("dead link %s: %w", l.target, err)
		}
	}
	return b.checkClaim(file, l)
}

// checkFragment checks that a page has a heading with this anchor. It refuses line numbers such as
// #L10, because the lines of source files move.
func (b *Book) checkFragment(file, fragment string) error {
	if path.Ext(file) != ".md" {
		return errors.New("only a heading of a .md file can be linked to (line numbers move)")
	}
	p, err := b.page(file)
	if err != nil {
		return err
	}
	if !p.anchors[fragment] {
		return fmt.Errorf("no heading of %s has the anchor #%s", file, fragment)
	}
	return nil
}

// page returns a page of the book, or another Markdown file of the workspace.
func (b *Book) page(file string) (*page, error) {
	if p := cmp.Or(b.pages[file], b.linked[file]); p != nil {
		return p, nil
	}
	source, err := b.readFile(file)
	if err != nil {
		return nil, err
	}
	b.linked[file] = parsePage(file, source)
	return b.linked[file], nil
}

// testName matches the names of functions that `go test` runs. A benchmark proves no claim, but a
// page links to it as the source of a figure.
var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)([\pN_\p{Lu}\p{Lt}\p{Lm}\p{Lo}][\pL\pN_]*)?$`)

// checkClaim checks that a link to a test file names a test of this file, as its title or its text,
// and that `go test` runs this test. The name of a subtest follows after a slash.
func (b *Book) checkClaim(file string, l link) error {
	name := cmp.Or(l.title, l.text)
	test, _, _ := strings.Cut(name, "/")
	isTest := testName.MatchString(test) && test != "TestMain"
	isTestFile := strings.HasSuffix(file, "_test.go")
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

// excludedFile matches test files that `go test` runs on some systems only, or never.
var excludedFile = regexp.MustCompile(`_(windows|darwin|linux|amd64|arm64)_test\.go$|(^|/)([_.]|testdata/)`)

// A testFile is a Go file that claims link to, or that may have subtests.
type testFile struct {
	source []byte
	tree   *ast.File
}

// parseTestFile reads and parses a test file, or returns the result of an earlier call.
func (b *Book) parseTestFile(file string) (testFile, error) {
	if parsed, ok := b.tests[file]; ok {
		return parsed, nil
	}
	source, err := b.readFile(file)
	if err != nil {
		return testFile{}, err
	}
	_, tree, err := parseGo(file, source)
	if err != nil {
		return testFile{}, err
	}
	b.tests[file] = testFile{source, tree}
	return b.tests[file], nil
}

// checkTest returns an error unless `go test` runs the function of this name in the file, and the
// subtest, if the name has one. It does not check the type of the parameter: the compiler does.
func (b *Book) checkTest(file, name string) error {
	name, subtest, hasSubtest := strings.Cut(name, "/")
	parsed, err := b.parseTestFile(file)
	if err != nil {
		return fmt.Errorf("looking for the test %s: %w", name, err)
	}
	function := parsed.function(name)
	if function == nil {
		return fmt.Errorf("there is no %s in %s", name, file)
	}
	if reason := parsed.neverRuns(file, function); reason != "" {
		return fmt.Errorf("%s in %s never runs: %s", name, file, reason)
	}
	if !hasSubtest {
		return nil
	}
	if err := b.checkSubtest(path.Dir(file), subtest); err != nil {
		return fmt.Errorf("%s in %s: %w", name, file, err)
	}
	return nil
}

// function returns the function with this name and a body, or nil.
func (f testFile) function(name string) *ast.FuncDecl {
	for _, d := range f.tree.Decls {
		function, ok := d.(*ast.FuncDecl)
		if ok && function.Recv == nil && function.Body != nil && function.Name.Name == name {
			return function
		}
	}
	return nil
}

// neverRuns returns the reason why `go test` does not run a test on every system, or "" if it does.
func (f testFile) neverRuns(file string, test *ast.FuncDecl) (reason string) {
	name := test.Name.Name
	switch {
	case excludedFile.MatchString(file), bytes.Contains(f.source, []byte("\n//go:build ")):
		return "its file is not for every system, by its name or its //go:build line"
	case strings.HasPrefix(name, "Example") && !hasOutput(f.tree, name):
		return "it has no // Output: comment"
	case slices.ContainsFunc(test.Body.List, isSkip):
		return "it always skips"
	}
	return ""
}

// hasOutput reports whether an example has an Output comment. `go test` does not run an example
// without one.
func hasOutput(tree *ast.File, name string) bool {
	return slices.ContainsFunc(doc.Examples(tree), func(e *doc.Example) bool {
		return "Example"+e.Name == name && (e.Output != "" || e.EmptyOutput)
	})
}

var skipCall = regexp.MustCompile(`^\w+\.Skip(f|Now)?\(`)

// isSkip reports whether a statement is a call of t.Skip, without a condition around it.
func isSkip(s ast.Stmt) bool {
	statement, ok := s.(*ast.ExprStmt)
	return ok && skipCall.MatchString(types.ExprString(statement.X))
}
