// Go sources: cutting declarations out of a file.

package book

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
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
