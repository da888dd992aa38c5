// How many names a reader has to look up for a step.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/expect"
)

// The most names that a step may use, and the most for half of all steps.
const (
	mostNames   = 8
	medianNames = 4
)

// A step stands alone: hardly any name in it is neither Go's nor client-go's
// nor that of a package that the chapters build. (-v shows the names.)
func TestStepsStandAlone(t *testing.T) {
	steps := foreignNames(t, root(t))
	var counts []int
	for _, file := range slices.Sorted(maps.Keys(steps)) {
		names := steps[file]
		t.Logf("%2d %s: %s", len(names), file, strings.Join(names, " "))
		expect.That(t, len(names) <= mostNames,
			"%s uses %d names that a reader has to look up, more than %d: %v", file, len(names), mostNames, names)
		counts = append(counts, len(names))
	}
	slices.Sort(counts)
	median := counts[len(counts)/2]
	expect.That(t, median <= medianNames,
		"half of the steps use %d names or more that a reader has to look up, want %d at most", median, medianNames)
}

// foreignNames are, by the file of each step, the names that it uses and that are
// declared elsewhere: in another file of its program, or in a package that is
// neither a library nor one that the chapters build.
func foreignNames(t *testing.T, root fs.FS) map[string][]string {
	t.Helper()
	steps := map[string][]string{}
	for _, file := range inChapters(t, root, "step_*.go") {
		parsed := parse(t, root, file)
		elsewhere := declaredBeside(t, root, file)
		for _, spec := range parsed.Imports {
			name, _ := strconv.Unquote(spec.Path.Value)
			if strings.HasPrefix(name, "example.com/informer/scripts/") {
				elsewhere[path.Base(name)+"."] = true
			}
		}
		used := map[string]bool{}
		for _, decl := range parsed.Decls {
			ast.Inspect(decl, func(node ast.Node) bool { return use(node, elsewhere, used) })
		}
		steps[file] = slices.Sorted(maps.Keys(used))
	}
	return steps
}

// use notes the name of a node if it is declared elsewhere.
func use(node ast.Node, elsewhere, used map[string]bool) (inside bool) {
	switch node := node.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := node.X.(*ast.Ident); ok && elsewhere[pkg.Name+"."] {
			used[pkg.Name+"."+node.Sel.Name] = true
		}
		ast.Inspect(node.X, func(inner ast.Node) bool { return use(inner, elsewhere, used) })
		return false // the selected name is another's
	case *ast.Ident:
		if elsewhere[node.Name] {
			used[node.Name] = true
		}
	}
	return true
}

// declaredBeside are the names that the other files of the program declare.
func declaredBeside(t *testing.T, root fs.FS, file string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	beside, _ := fs.Glob(root, path.Join(path.Dir(file), "*.go"))
	for _, other := range beside {
		if other == file || strings.HasSuffix(other, "_test.go") {
			continue
		}
		for _, decl := range parse(t, root, other).Decls {
			for _, name := range book.Names(decl) { // a method is named Type.Method, which nobody uses so
				names[name] = name != "_"
			}
		}
	}
	return names
}

func parse(t *testing.T, root fs.FS, file string) *ast.File {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, readFile(t, root, file), parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	return tree
}
