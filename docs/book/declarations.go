// Finding declarations in a Go file.

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

// declarations returns the named declarations of a Go file, each with its comments and exactly as
// written, with a blank line between them. The name of a method is Type.Method. A name of a const,
// var or type group stands for the whole group.
func declarations(file string, source []byte, names []string) (string, error) {
	files, tree, err := parseGo(file, source)
	if err != nil {
		return "", fmt.Errorf("looking for declarations: %w", err)
	}
	texts := map[string]string{} // the text of each declaration, by name
	var declared []string
	end := 0 // of the previous declaration
	for _, d := range tree.Decls {
		// The comments of a declaration are those above it without a blank line between, and the
		// one on its last line.
		begin := max(end, bytes.LastIndex(source[:files.Position(d.Pos()).Offset], []byte("\n\n")))
		end = files.Position(d.End()).Offset
		restOfLine, _, _ := bytes.Cut(source[end:], []byte("\n"))
		end += len(restOfLine)
		for _, name := range Names(d) {
			texts[name] = strings.TrimSpace(string(source[begin:end]))
			declared = append(declared, name)
		}
	}
	var wanted []string
	for _, name := range names {
		text, ok := texts[name]
		if !ok {
			all := cmp.Or(strings.Join(declared, ", "), "nothing")
			return "", fmt.Errorf("%s does not declare %s; it declares %s", file, name, all)
		}
		if !slices.Contains(wanted, text) {
			wanted = append(wanted, text)
		}
	}
	return strings.Join(wanted, "\n\n"), nil
}

// Names returns the names that d declares. The name of a method is Type.Method. An import declares
// no name.
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
