// Finding subtests, so that a claim can link to one.

package book

import (
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"strconv"
	"strings"
	"unicode"
)

// checkSubtest returns an error unless a test in this folder may have the subtest. `go test` knows the
// name of a subtest only when it runs: so each part of the name has to be a string that names
// subtests in the tests of the folder, or in a package of the workspace that these import (a contract).
func (b *Book) checkSubtest(folder, name string) error {
	names := b.subtestNames(folder + "/*_test.go")
	if isSubtest(names, rewriteName(name)) {
		return nil
	}
	return fmt.Errorf("no subtest has the name %q, as a string in t.Run or in a table", name)
}

// isSubtest reports whether a name is one of these, or several of them joined by slashes.
func isSubtest(names map[string]bool, name string) bool {
	if names[name] {
		return true
	}
	for i := range name {
		if name[i] == '/' && names[name[:i]] && isSubtest(names, name[i+1:]) {
			return true
		}
	}
	return false
}

// subtestNames returns the strings in calls of Run and in tables, of the files that match a pattern
// and of the packages of the workspace that they import. It skips files that cannot be parsed: the
// compiler says more about them.
func (b *Book) subtestNames(pattern string) map[string]bool {
	if known, ok := b.subtests[pattern]; ok {
		return known
	}
	names := map[string]bool{}
	b.subtests[pattern] = names
	files, _ := fs.Glob(b.ws, pattern) // only the pattern could be wrong
	for _, file := range files {
		parsed, err := b.parseTestFile(file)
		if err != nil {
			continue
		}
		ast.Inspect(parsed.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.CompositeLit:
				addStrings(names, n.Elts...)
			case *ast.KeyValueExpr:
				addStrings(names, n.Key, n.Value)
			case *ast.CallExpr:
				if method, ok := n.Fun.(*ast.SelectorExpr); ok && method.Sel.Name == "Run" && len(n.Args) == 2 {
					addStrings(names, n.Args[0])
				}
			}
			return true
		})
		if !strings.HasSuffix(pattern, "_test.go") {
			continue // an imported package
		}
		for _, imported := range parsed.tree.Imports {
			if folder, ok := strings.CutPrefix(unquote(imported.Path), "example.com/informer/"); ok {
				maps.Copy(names, b.subtestNames(path.Join(folder, "*.go")))
			}
		}
	}
	return names
}

// addStrings adds those expressions that are strings, as package testing writes them.
func addStrings(names map[string]bool, expressions ...ast.Expr) {
	for _, e := range expressions {
		if literal, ok := e.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			names[rewriteName(unquote(literal))] = true
		}
	}
}

// rewriteName makes the name of a subtest what package testing makes it.
func rewriteName(name string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return '_'
		}
		return r
	}, name)
}

// unquote returns the string of a literal.
func unquote(literal *ast.BasicLit) string {
	text, _ := strconv.Unquote(literal.Value) // the parser has accepted it
	return text
}
