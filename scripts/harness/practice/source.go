// How the code of a file changes: functions are emptied, a bug is planted, the book's code is put
// back.

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ast/astutil"
)

// begin returns the text of the exercise's file as the reader gets it.
func (e exercise) begin(text string) (string, error) {
	if e.plant != "" {
		return apply(text, e.plant)
	}
	for _, name := range e.empty {
		f, err := findFunction(text, name)
		if err != nil {
			return "", err
		}
		text = text[:f.body] + "{\n\tpanic(\"yours to write\")\n}" + text[f.end:]
	}
	for _, name := range e.drop {
		f, err := findFunction(text, name)
		if err != nil {
			return "", err
		}
		text = text[:f.begin] + text[f.end:]
	}
	return tidy(text)
}

// A function is the place of a function in a text, as offsets.
type function struct {
	begin int // of its comment, or of the function if it has none
	body  int
	end   int
}

// findFunction returns the place of a function. The name of a method is Type.method.
func findFunction(text, name string) (function, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		return function{}, err
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || functionName(text, f) != name {
			continue
		}
		begin := f.Pos()
		if f.Doc != nil {
			begin = f.Doc.Pos()
		}
		// The offset of the only file is its position minus one.
		return function{begin: int(begin) - 1, body: int(f.Body.Pos()) - 1, end: int(f.End()) - 1}, nil
	}
	return function{}, fmt.Errorf("it has no function %s", name)
}

var identifier = regexp.MustCompile(`\w+`)

// functionName returns the name of a function, or Type.method.
func functionName(text string, f *ast.FuncDecl) string {
	if f.Recv == nil {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type // such as *Type or Type[T]
	return identifier.FindString(text[receiver.Pos()-1:receiver.End()-1]) + "." + f.Name.Name
}

// apply applies a difference to a text. The lines with a minus or a space must be in the text
// exactly once. The lines with a plus or a space replace them.
func apply(text, difference string) (string, error) {
	var before, after strings.Builder
	for line := range strings.Lines(difference) {
		if line == "\n" {
			line = " \n" // an editor has removed the space
		}
		if line[0] != '+' {
			before.WriteString(line[1:])
		}
		if line[0] != '-' {
			after.WriteString(line[1:])
		}
	}
	if n := strings.Count(text, before.String()); n != 1 {
		return "", fmt.Errorf("these lines stand in it %d times, not once:\n%s", n, &before)
	}
	return tidy(strings.Replace(text, before.String(), after.String(), 1))
}

var versionSuffix = regexp.MustCompile(`/v\d+$`)

// importNames returns the path of an import, its name in the file, and its alias if it has one. The
// name of an import without an alias is the last part of its path, such as klog of k8s.io/klog/v2.
func importNames(spec *ast.ImportSpec) (importPath, name, alias string) {
	importPath, _ = strconv.Unquote(spec.Path.Value)
	if spec.Name != nil {
		return importPath, spec.Name.Name, spec.Name.Name
	}
	return importPath, path.Base(versionSuffix.ReplaceAllString(importPath, "")), ""
}

// tidy adds imports, removes the imports that a file does not use, and formats the file.
func tidy(text string, imports ...*ast.ImportSpec) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, spec := range imports {
		importPath, _, alias := importNames(spec)
		astutil.AddNamedImport(set, file, alias, importPath)
	}
	used := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			used[fmt.Sprint(selector.X)] = true
		}
		return true
	})
	for _, spec := range slices.Clone(file.Imports) {
		importPath, name, alias := importNames(spec)
		if !used[name] && name != "_" {
			astutil.DeleteNamedImport(set, file, alias, importPath)
		}
	}
	var tidied bytes.Buffer
	err = format.Node(&tidied, set, file)
	return tidied.String(), err
}

// versions are three versions of an exercise's file.
type versions struct {
	mine    string // the reader's, as it is now
	book    string // the book's
	started string // as the reader gets it at the start of the exercise
}

func (e exercise) versions(root string) (v versions, err error) {
	mine, err := os.ReadFile(filepath.Join(root, e.file))
	if err != nil {
		return v, err
	}
	v.mine = string(mine)
	v.book, err = git(root, "show", bookRef(root)+":"+e.file)
	if err != nil {
		return v, err
	}
	v.started, err = e.begin(v.book)
	return v, err
}

// merge applies the change between two versions to the reader's file. It replaces the reader's code
// in the same place, and keeps it in other places.
func merge(mine, from, to string) (string, error) {
	dir, err := os.MkdirTemp("", "practice")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	for name, text := range map[string]string{"mine": mine, "from": from, "to": to} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	merged, err := git(dir, "merge-file", "-p", "--theirs", "mine", "from", "to")
	if err != nil {
		return "", err
	}
	target, err := parser.ParseFile(token.NewFileSet(), "", to, parser.ImportsOnly)
	if err != nil {
		return "", err
	}
	// The reader's editor may have removed imports.
	tidied, err := tidy(merged, target.Imports...)
	if err != nil {
		return merged, nil // the reader's code is not valid Go yet
	}
	return tidied, nil
}
