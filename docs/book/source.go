// Go sources: cutting declarations out of a file.

package book

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

func parseGo(file string, source []byte) (*token.FileSet, *ast.File, error) {
	files := token.NewFileSet()
	tree, err := parser.ParseFile(files, file, source, parser.ParseComments|parser.SkipObjectResolution)
	return files, tree, err
}

// declarations cuts the named declarations out of a Go file, each with its doc
// comment and exactly as written, and joins them with a blank line. A method is
// named Type.Method; any name of a const, var or type group gives the group.
func declarations(file string, source []byte, names []string) (string, error) {
	files, tree, err := parseGo(file, source)
	if err != nil {
		return "", fmt.Errorf("looking for declarations: %w", err)
	}
	parts := map[string]string{} // by name
	var declared []string
	end := 0
	for _, d := range tree.Decls {
		// a comment is part of the declaration if no blank line lies between the two, or behind it on its line
		begin := max(end, bytes.LastIndex(source[:files.Position(d.Pos()).Offset], []byte("\n\n")))
		end = files.Position(d.End()).Offset
		behind, _, _ := bytes.Cut(source[end:], []byte("\n"))
		end += len(behind)
		for _, name := range Names(d) {
			parts[name] = strings.TrimSpace(string(source[begin:end]))
			declared = append(declared, name)
		}
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

// Names returns the names that d declares: that of a method as Type.Method. An
// import declares none.
func Names(d ast.Decl) (names []string) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil {
			return []string{d.Name.Name}
		}
		receiver, _, _ := strings.Cut(types.ExprString(d.Recv.List[0].Type), "[") // *T, T[P], T[P, Q] or (T)
		return []string{strings.Trim(receiver, "*()") + "." + d.Name.Name}
	case *ast.GenDecl:
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
	return names
}
