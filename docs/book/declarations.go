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

// A declaration is a part of a Go file, with its comments.
type declaration struct {
	name       string
	begin, end int // offsets
}

// allDeclarations returns the declarations of a Go file, in their order. The name of a method is
// Type.Method. All names of a const, var or type group stand for the whole group.
func allDeclarations(file string, source []byte) (all []declaration, err error) {
	files, tree, err := parseGo(file, source)
	if err != nil {
		return nil, fmt.Errorf("looking for declarations: %w", err)
	}
	end := 0 // of the previous declaration
	for _, d := range tree.Decls {
		// The comments of a declaration are those above it without a blank line between, and the
		// one on its last line.
		begin := max(end, bytes.LastIndex(source[:files.Position(d.Pos()).Offset], []byte("\n\n")))
		begin += len(source[begin:]) - len(bytes.TrimLeft(source[begin:], " \t\n"))
		end = files.Position(d.End()).Offset
		restOfLine, _, _ := bytes.Cut(source[end:], []byte("\n"))
		end += len(restOfLine)
		for _, name := range Names(d) {
			all = append(all, declaration{name, begin, end})
		}
	}
	return all, nil
}

// declarations returns the named declarations of a Go file, each with its comments and exactly as
// written, with a blank line between them.
func declarations(file string, source []byte, names []string) (string, error) {
	all, err := allDeclarations(file, source)
	if err != nil {
		return "", err
	}
	var declared, wanted []string
	texts := map[string]string{}
	for _, d := range all {
		declared = append(declared, d.name)
		texts[d.name] = strings.TrimSpace(string(source[d.begin:d.end]))
	}
	for _, name := range names {
		text, ok := texts[name]
		if !ok {
			return "", fmt.Errorf("%s does not declare %s; it declares %s", file, name,
				cmp.Or(strings.Join(declared, ", "), "nothing"))
		}
		if !slices.Contains(wanted, text) {
			wanted = append(wanted, text)
		}
	}
	return strings.Join(wanted, "\n\n"), nil
}

// DeclarationLines returns the first and the last line of each of the named declarations of a Go
// file that the file has. Lines count from 1.
func DeclarationLines(file string, source []byte, names []string) (lines [][2]int) {
	all, _ := allDeclarations(file, source) // none in a file that cannot be parsed
	for _, d := range all {
		if slices.Contains(names, d.name) {
			line := func(offset int) int { return 1 + bytes.Count(source[:offset], []byte("\n")) }
			lines = append(lines, [2]int{line(d.begin), line(d.end)})
		}
	}
	return lines
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
