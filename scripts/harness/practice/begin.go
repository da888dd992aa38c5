// How an exercise begins: bodies are removed from the book's code, or a bug is put into it.

package main

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"example.com/informer/scripts/harness/hunk"
)

// toWrite is the body of a function that the reader has to write.
const toWrite = "{\n\tpanic(\"yours to write\")\n}"

// begin returns the book's text as the reader gets it at the start.
func (e exercise) begin(book string) (string, error) {
	if e.plant != "" {
		return apply(book, e.plant)
	}
	functions := findFunctions(book)
	for _, name := range append(slices.Clone(e.empty), e.drop...) {
		if !slices.ContainsFunc(functions, func(f function) bool { return f.name == name }) {
			return "", fmt.Errorf("it has no function %s", name)
		}
	}
	text := book
	for _, f := range slices.Backward(functions) { // so that the offsets above stay
		switch {
		case slices.Contains(e.empty, f.name):
			text = text[:f.body] + toWrite + text[f.end:]
		case slices.Contains(e.drop, f.name):
			text = text[:f.begin] + text[f.end:]
		}
	}
	return withoutUnusedImports(text)
}

// apply applies a difference to a text of the book. The lines before the change must be in the text
// exactly once.
func apply(text, difference string) (string, error) {
	changed, err := hunk.Apply(text, difference)
	if err != nil {
		return "", err
	}
	return withoutUnusedImports(changed)
}

// A function is a function in the text of a Go file. The places are offsets in the text.
type function struct {
	name  string // Type.method of a method
	begin int    // of its comment, or of the function if it has none
	body  int
	end   int
}

// findFunctions returns the functions of a text, in their order. The reader may be in the middle of a
// change: it returns what the parser understands.
func findFunctions(text string) (all []function) {
	file, _ := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments|parser.SkipObjectResolution)
	if file == nil {
		return nil
	}
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		begin := f.Pos()
		if f.Doc != nil {
			begin = f.Doc.Pos()
		}
		// The offset in the only file is its position minus one.
		found := function{functionName(text, f), int(begin) - 1, int(f.Body.Pos()) - 1, int(f.End()) - 1}
		if found.end <= len(text) {
			all = append(all, found)
		}
	}
	return all
}

var identifier = regexp.MustCompile(`\w+`)

// functionName returns the name of a function, or Type.method.
func functionName(text string, f *ast.FuncDecl) string {
	if f.Recv == nil || len(f.Recv.List) == 0 {
		return f.Name.Name
	}
	receiver := f.Recv.List[0].Type // such as *Type or Type[T]
	return identifier.FindString(text[receiver.Pos()-1:receiver.End()-1]) + "." + f.Name.Name
}

var versionSuffix = regexp.MustCompile(`/v\d+$`)

// withoutUnusedImports removes the imports that a text does not use, and formats the text.
func withoutUnusedImports(text string) (string, error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.SkipObjectResolution)
	if err != nil {
		return "", err
	}
	used := map[string]bool{"_": true, ".": true}
	ast.Inspect(file, func(n ast.Node) bool {
		if selector, ok := n.(*ast.SelectorExpr); ok {
			used[fmt.Sprint(selector.X)] = true
		}
		return true
	})
	for _, spec := range slices.Backward(file.Imports) {
		importPath, _ := strconv.Unquote(spec.Path.Value)
		name := path.Base(versionSuffix.ReplaceAllString(importPath, "")) // such as klog of k8s.io/klog/v2
		if spec.Name != nil {
			name = spec.Name.Name
		}
		if !used[name] { // it has a line of its own
			begin := strings.LastIndex(text[:spec.Pos()-1], "\n") + 1
			end := int(spec.End()) + strings.Index(text[spec.End()-1:], "\n")
			text = text[:begin] + text[end:]
		}
	}
	formatted, err := format.Source([]byte(text))
	return string(formatted), err
}
