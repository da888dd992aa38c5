// How many names a reader has to look up for a step.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The most names that a step may use, and the most for half of all steps.
const (
	mostNames   = 8
	medianNames = 4
)

// A step stands alone: hardly any name in it is neither Go's nor client-go's
// nor that of a package that the chapters build. (-v shows the names.)
func TestStepsStandAlone(t *testing.T) {
	files, err := filepath.Glob("../[0-9][0-9]-*/step_*.go")
	if err != nil || len(files) == 0 {
		t.Fatalf("found no steps: %v", err)
	}
	var counts []int
	for _, file := range files {
		names := foreignNames(t, file)
		t.Logf("%2d %s: %s", len(names), strings.TrimPrefix(file, "../"), strings.Join(names, " "))
		if len(names) > mostNames {
			t.Errorf("%s uses %d names that a reader has to look up, more than %d: %v",
				file, len(names), mostNames, names)
		}
		counts = append(counts, len(names))
	}
	slices.Sort(counts)
	if median := counts[len(counts)/2]; median > medianNames {
		t.Errorf("half of the steps use %d names or more that a reader has to look up, want %d at most",
			median, medianNames)
	}
}

// foreignNames are the names that the step of this file uses and that are
// declared elsewhere: in another file of its program, or in a package that is
// neither a library nor one that the chapters build.
func foreignNames(t *testing.T, file string) []string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	elsewhere := declaredBeside(t, file)
	foreign := map[string]bool{} // names of packages
	for _, spec := range parsed.Imports {
		name, _ := strconv.Unquote(spec.Path.Value)
		if strings.HasPrefix(name, "example.com/informer/scripts/") {
			foreign[path.Base(name)] = true
		}
	}
	used := map[string]bool{}
	inspect := func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if pkg, ok := node.X.(*ast.Ident); ok && foreign[pkg.Name] {
				used[pkg.Name+"."+node.Sel.Name] = true
			}
			ast.Inspect(node.X, func(inner ast.Node) bool { // and not the selected name
				if name, ok := inner.(*ast.Ident); ok && elsewhere[name.Name] {
					used[name.Name] = true
				}
				return true
			})
			return false
		case *ast.Ident:
			if elsewhere[node.Name] {
				used[node.Name] = true
			}
		}
		return true
	}
	for _, decl := range parsed.Decls {
		ast.Inspect(decl, inspect)
	}
	return slices.Sorted(maps.Keys(used))
}

// declaredBeside are the names that the other files of the program declare.
func declaredBeside(t *testing.T, file string) map[string]bool {
	t.Helper()
	beside, err := filepath.Glob(filepath.Join(filepath.Dir(file), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, other := range beside {
		if other == file || strings.HasSuffix(other, "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), other, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range parsed.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv == nil {
					names[decl.Name.Name] = true
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						names[spec.Name.Name] = true
					case *ast.ValueSpec:
						for _, name := range spec.Names {
							names[name.Name] = true
						}
					}
				}
			}
		}
	}
	delete(names, "_")
	return names
}
