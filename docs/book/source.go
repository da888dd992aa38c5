// Go sources: cutting declarations out of a file.

package book

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
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
	parts := map[string]string{} // by name
	var declared []string
	for _, d := range tree.Decls {
		declares, start := namesOf(d)
		from, to := files.Position(start).Offset, files.Position(d.End()).Offset
		behind, _, _ := strings.Cut(string(source[to:]), "\n") // a comment there is part of the declaration
		part := string(source[from:to]) + strings.TrimRight(behind, " \t\r")
		for _, name := range declares {
			parts[name] = part
		}
		declared = append(declared, declares...)
	}
	var wanted []string
	for _, name := range names {
		part, ok := parts[name]
		if !ok {
			all := cmp.Or(strings.Join(declared, ", "), "nothing")
			return "", fmt.Errorf("%s does not declare %s; it declares %s", file, name, all)
		}
		if !slices.Contains(wanted, part) {
			wanted = append(wanted, part)
		}
	}
	return strings.Join(wanted, "\n\n"), nil
}

// namesOf returns the names that d declares, and where it begins with its doc
// comment. An import declares none.
func namesOf(d ast.Decl) (names []string, start token.Pos) {
	var doc *ast.CommentGroup
	switch d := d.(type) {
	case *ast.FuncDecl:
		doc, names = d.Doc, []string{d.Name.Name}
		if d.Recv != nil { // *T, T[P], T[P, Q] or (T)
			receiver, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[")
			names[0] = strings.Trim(receiver, "*()") + "." + names[0]
		}
	case *ast.GenDecl:
		doc = d.Doc
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
	}
	if doc != nil {
		return names, doc.Pos()
	}
	return names, d.Pos()
}
