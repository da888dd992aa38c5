// Go sources: cutting declarations out of a file, and finding its tests.

package book

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// declarations cuts the named declarations out of a Go file, each with its doc
// comment and exactly as written, and joins them with a blank line. A method is
// named Type.Method; any name of a const, var or type group gives the group.
func declarations(file string, source []byte, names []string) (string, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return "", fmt.Errorf("looking for declarations: %w", err)
	}
	var parts []string
	var taken []ast.Decl
	for _, name := range names {
		i := slices.IndexFunc(tree.Decls, func(d ast.Decl) bool { return slices.Contains(namesOf(d), name) })
		if i < 0 {
			return "", fmt.Errorf("%s does not declare %s; it declares %s", file, name, listed(tree))
		}
		if d := tree.Decls[i]; !slices.Contains(taken, d) {
			taken = append(taken, d)
			parts = append(parts, cut(files, source, d))
		}
	}
	return strings.Join(parts, "\n\n"), nil
}

// cut returns the lines of d: a comment behind its last line is part of it.
func cut(files *token.FileSet, source []byte, d ast.Decl) string {
	start := d.Pos()
	if c := docOf(d); c != nil {
		start = c.Pos()
	}
	from, to := files.Position(start).Offset, files.Position(d.End()).Offset
	text, rest := string(source[from:to]), string(source[to:])
	tail, _, _ := strings.Cut(rest, "\n")
	return text + strings.TrimRight(tail, " \t\r")
}

func docOf(d ast.Decl) *ast.CommentGroup {
	switch d := d.(type) {
	case *ast.FuncDecl:
		return d.Doc
	case *ast.GenDecl:
		return d.Doc
	}
	return nil
}

// namesOf returns the names that d declares; an import declares none.
func namesOf(d ast.Decl) []string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return []string{receiver(d.Recv.List[0].Type) + "." + d.Name.Name}
		}
		return []string{d.Name.Name}
	case *ast.GenDecl:
		var names []string
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				names = append(names, spec.Name.Name)
			case *ast.ValueSpec:
				for _, n := range spec.Names {
					names = append(names, n.Name)
				}
			}
		}
		return names
	}
	return nil
}

// receiver returns the bare type name of *T, T[P] or T[P, Q].
func receiver(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr:
		return receiver(t.X)
	case *ast.ParenExpr:
		return receiver(t.X)
	case *ast.IndexExpr:
		return receiver(t.X)
	case *ast.IndexListExpr:
		return receiver(t.X)
	case *ast.Ident:
		return t.Name
	}
	return "?"
}

func listed(tree *ast.File) string {
	var names []string
	for _, d := range tree.Decls {
		names = append(names, namesOf(d)...)
	}
	if len(names) == 0 {
		return "nothing"
	}
	return strings.Join(names, ", ")
}

// checkTest returns an error unless `go test` runs name in the given file.
func checkTest(file string, source []byte, name string) error {
	tree, err := parser.ParseFile(token.NewFileSet(), file, source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("looking for the test %s: %w", name, err)
	}
	if !slices.ContainsFunc(tree.Decls, func(d ast.Decl) bool { return isFunc(d, name) }) {
		return fmt.Errorf("there is no %s in %s", name, file)
	}
	for _, e := range doc.Examples(tree) {
		if "Example"+e.Name == name && e.Output == "" && !e.EmptyOutput {
			return fmt.Errorf("%s in %s has no // Output: comment, so nothing runs it", name, file)
		}
	}
	return nil
}

func isFunc(d ast.Decl, name string) bool {
	f, ok := d.(*ast.FuncDecl)
	return ok && f.Recv == nil && f.Name.Name == name
}

// isTestName says whether `go test` takes a function of that name for a test.
func isTestName(name string) bool {
	if name == "TestMain" || !token.IsIdentifier(name) {
		return false
	}
	for _, prefix := range []string{"Test", "Example", "Fuzz", "Benchmark"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			first, _ := utf8.DecodeRuneInString(rest)
			return !unicode.IsLower(first)
		}
	}
	return false
}
