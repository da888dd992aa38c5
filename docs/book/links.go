// Checking links: the target is there, and so are the anchor, and the test of a claim.

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

// checkLink follows a link, and holds a claim to its test. Of a link out of the
// workspace it looks at the form only: nothing here asks the network.
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

// checkFragment holds #fragment to the headings of a page. Lines of source
// files move, so #L10 is refused.
func (b *Book) checkFragment(file, fragment string) error {
	if path.Ext(file) != ".md" {
		return errors.New("only a heading of a .md file can be linked to (line numbers move)")
	}
	p := cmp.Or(b.pages[file], b.linked[file])
	if p == nil {
		source, err := fs.ReadFile(b.ws, file)
		if err != nil {
			return err
		}
		p = parsePage(file, source)
		b.linked[file] = p
	}
	if !p.anchors[fragment] {
		return fmt.Errorf("no heading of %s has the anchor #%s", file, fragment)
	}
	return nil
}

// testName matches the names of functions that `go test` takes for tests. A
// benchmark proves no claim: pages link to it as the source of a figure.
var testName = regexp.MustCompile(`^(Test|Fuzz|Benchmark|Example)([\pN_\p{Lu}\p{Lt}\p{Lm}\p{Lo}][\pL\pN_]*)?$`)

// checkClaim holds a link to a test file to name a test in it, as its title or
// its text, and one that is run: that is how a claim stays tied to its proof.
func (b *Book) checkClaim(file string, l link) error {
	name := cmp.Or(l.title, l.text)
	isTest, isTestFile := testName.MatchString(name) && name != "TestMain", strings.HasSuffix(file, "_test.go")
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

// leftOut matches test files that are not for every system, or for none.
var leftOut = regexp.MustCompile(`_(windows|darwin|linux|amd64|arm64)_test\.go$|(^|/)([_.]|testdata/)`)

// A testFile is a Go file that claims link to.
type testFile struct {
	source []byte
	tree   *ast.File
}

func (b *Book) testFile(file string) (testFile, error) {
	if parsed, ok := b.tests[file]; ok {
		return parsed, nil
	}
	source, err := fs.ReadFile(b.ws, file)
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

// checkTest returns an error unless `go test` runs name in the given file. That it
// takes a *testing.T is left to the compiler.
func (b *Book) checkTest(file, name string) error {
	parsed, err := b.testFile(file)
	if err != nil {
		return fmt.Errorf("looking for the test %s: %w", name, err)
	}
	i := slices.IndexFunc(parsed.tree.Decls, func(d ast.Decl) bool {
		f, ok := d.(*ast.FuncDecl)
		return ok && f.Recv == nil && f.Body != nil && f.Name.Name == name
	})
	if i < 0 {
		return fmt.Errorf("there is no %s in %s", name, file)
	}
	why := ""
	switch body := parsed.tree.Decls[i].(*ast.FuncDecl).Body; {
	case leftOut.MatchString(file) || bytes.Contains(parsed.source, []byte("\n//go:build ")):
		why = "its file is not for every system, by its name or its //go:build line"
	case strings.HasPrefix(name, "Example") && !hasOutput(parsed.tree, name):
		why = "it has no // Output: comment"
	case slices.ContainsFunc(body.List, isSkip):
		why = "it always skips"
	default:
		return nil
	}
	return fmt.Errorf("%s in %s never runs: %s", name, file, why)
}

func hasOutput(tree *ast.File, name string) bool {
	return slices.ContainsFunc(doc.Examples(tree), func(e *doc.Example) bool {
		return "Example"+e.Name == name && (e.Output != "" || e.EmptyOutput)
	})
}

// isSkip says whether a statement of a test is t.Skip(…), under no condition.
func isSkip(s ast.Stmt) bool {
	statement, ok := s.(*ast.ExprStmt)
	return ok && skip.MatchString(types.ExprString(statement.X))
}

var skip = regexp.MustCompile(`^\w+\.Skip(f|Now)?\(`)
