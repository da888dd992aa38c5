// How the code of a file changes: bodies go, a bug comes in, the book's code comes back.

package main

import (
	"bytes"
	"errors"
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
	for _, name := range slices.Concat(e.empty, e.drop) {
		from, body, to, err := find(text, name)
		switch {
		case err != nil:
			return "", err
		case slices.Contains(e.drop, name):
			text = text[:from] + text[to:]
		default:
			text = text[:body] + "{\n\tpanic(\"yours to write\")\n}" + text[to:]
		}
	}
	return tidy(text)
}

// find returns where a function is: its comment, its body and its end. A method is
// Type.method.
func find(text, name string) (from, body, to int, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), "", text, parser.ParseComments)
	if err != nil {
		return 0, 0, 0, err
	}
	for _, declared := range file.Decls {
		function, ok := declared.(*ast.FuncDecl)
		if !ok {
			continue
		}
		its, from := function.Name.Name, function.Pos()
		if function.Recv != nil {
			of := function.Recv.List[0].Type
			its = regexp.MustCompile(`\w+`).FindString(text[of.Pos()-1:of.End()-1]) + "." + its
		}
		if function.Doc != nil {
			from = function.Doc.Pos()
		}
		if its == name {
			return int(from) - 1, int(function.Body.Pos()) - 1, int(function.End()) - 1, nil
		}
	}
	return 0, 0, 0, fmt.Errorf("it has no function %s", name)
}

// apply makes a difference happen: its lines with a minus or a space stand in the
// text once, and those with a plus or a space take their place.
func apply(text, difference string) (string, error) {
	var old, changed string
	for line := range strings.Lines(difference) {
		if line == "\n" {
			line = " \n"
		}
		if line[0] != '+' {
			old += line[1:]
		}
		if line[0] != '-' {
			changed += line[1:]
		}
	}
	if n := strings.Count(text, old); n != 1 {
		return "", fmt.Errorf("these lines stand in it %d times, not once:\n%s", n, old)
	}
	return tidy(strings.Replace(text, old, changed, 1))
}

// names returns what an import is called: in go.mod's words, in the file, and in the
// import itself if it has a name.
func names(spec *ast.ImportSpec) (importPath, name, alias string) {
	importPath, _ = strconv.Unquote(spec.Path.Value)
	if spec.Name != nil {
		return importPath, spec.Name.Name, spec.Name.Name
	}
	return importPath, path.Base(regexp.MustCompile(`/v\d+$`).ReplaceAllString(importPath, "")), "" // …/klog/v2
}

// tidy adds imports, drops those that a file does not use, and formats it.
func tidy(text string, more ...*ast.ImportSpec) (string, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "", text, parser.ParseComments)
	if err != nil {
		return "", err
	}
	for _, spec := range more {
		importPath, _, alias := names(spec)
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
		importPath, name, alias := names(spec)
		if !used[name] && name != "_" {
			astutil.DeleteNamedImport(set, file, alias, importPath)
		}
	}
	var tidied bytes.Buffer
	err = format.Node(&tidied, set, file)
	return tidied.String(), err
}

// versions returns the exercise's file as it is, as the book has it, and as the
// exercise begins with it.
func (e exercise) versions(root string) (mine, book, started string, err error) {
	text, err := os.ReadFile(filepath.Join(root, e.file))
	book, bookErr := git(root, "show", bookRef(root)+":"+e.file)
	if err := errors.Join(err, bookErr); err != nil {
		return "", "", "", err
	}
	started, err = e.begin(book)
	return string(text), book, started, err
}

// merge makes the change between two versions in the reader's file: what the reader
// wrote in the same place goes, what they wrote in other places stays.
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
	of, parseErr := parser.ParseFile(token.NewFileSet(), "", to, parser.ImportsOnly)
	if err := errors.Join(err, parseErr); err != nil {
		return "", err
	}
	// The reader's editor may have dropped imports. If there is an error, the reader's code is not Go yet.
	if tidied, err := tidy(merged, of.Imports...); err == nil {
		merged = tidied
	}
	return merged, nil
}
