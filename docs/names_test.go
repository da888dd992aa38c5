// How many names of a step a reader has to look up.

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
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"example.com/informer/docs/book"
)

// Limits for the number of foreign names: in any step, and in the median step.
const (
	maxNames       = 8
	maxMedianNames = 4
)

// A step stands alone: nearly every name in it comes from Go, from client-go, or from a package
// that the chapters build. (-v shows the other names.)
func TestStepsStandAlone(t *testing.T) {
	steps := foreignNames(t, root(t))
	var counts []int
	for _, file := range slices.Sorted(maps.Keys(steps)) {
		names := steps[file]
		t.Logf("%2d %s: %s", len(names), file, strings.Join(names, " "))
		if len(names) > maxNames {
			t.Errorf("%s uses %d names that a reader has to look up, want at most %d: %v",
				file, len(names), maxNames, names)
		}
		counts = append(counts, len(names))
	}
	slices.Sort(counts)
	median := counts[len(counts)/2]
	if median > maxMedianNames {
		t.Errorf("the median step uses %d names that a reader has to look up, want at most %d", median, maxMedianNames)
	}
}

// The steps of a program in a deeper folder count, too.
func TestForeignNamesAtAnyDepth(t *testing.T) {
	tree := fstest.MapFS{
		"08-x/deep/er/step_one.go": {Data: []byte("package main\n\n" +
			"import \"example.com/informer/scripts/harness/step\"\n\n" +
			"func stepOne(l *step.Lesson) { helper(limit.x, l.Out) }\n")},
		"08-x/deep/er/main.go": {Data: []byte("package main\n\n" +
			"var limit struct{ x int }\n\nfunc helper(int, any) {}\n")},
		"08-x/main.go":     {Data: []byte("package main\n\nfunc Lesson() {}\n")},
		"docs/step_two.go": {Data: []byte("package main\n")}, // not in a chapter
	}
	want := map[string][]string{"08-x/deep/er/step_one.go": {"helper", "limit", "step.Lesson"}}
	if diff := cmp.Diff(want, foreignNames(t, tree)); diff != "" {
		t.Errorf("foreignNames() differs (-want +got):\n%s", diff)
	}
}

// foreignNames returns, for the file of each step, the names that the step uses and that are
// declared elsewhere: in another file of its program, or in a package of the workspace that no
// chapter builds.
func foreignNames(t *testing.T, root fs.FS) map[string][]string {
	t.Helper()
	steps := map[string][]string{}
	for _, file := range inChapters(t, root, "step_*.go") {
		parsed := parse(t, root, file)
		c := nameCollector{foreign: declaredBeside(t, root, file), used: map[string]bool{}}
		for _, spec := range parsed.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatalf("%s imports %s: %v", file, spec.Path.Value, err)
			}
			if strings.HasPrefix(name, "example.com/informer/scripts/") {
				c.foreign[path.Base(name)+"."] = true
			}
		}
		for _, decl := range parsed.Decls {
			ast.Inspect(decl, c.visit)
		}
		steps[file] = slices.Sorted(maps.Keys(c.used))
	}
	return steps
}

// A nameCollector finds the foreign names in a syntax tree.
type nameCollector struct {
	foreign map[string]bool // names, and packages with a dot behind them
	used    map[string]bool // the foreign names that it has found
}

// visit is for ast.Inspect.
func (c nameCollector) visit(node ast.Node) (descend bool) {
	switch node := node.(type) {
	case *ast.SelectorExpr:
		if pkg, ok := node.X.(*ast.Ident); ok && c.foreign[pkg.Name+"."] {
			c.used[pkg.Name+"."+node.Sel.Name] = true
		}
		ast.Inspect(node.X, c.visit)
		return false // the selected name is a field, a method, or a name of another package
	case *ast.Ident:
		if c.foreign[node.Name] {
			c.used[node.Name] = true
		}
	}
	return true
}

// declaredBeside returns the names that the other files of the program declare. A method is in it
// as Type.Method: no identifier matches that.
func declaredBeside(t *testing.T, root fs.FS, file string) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	files, err := fs.Glob(root, path.Join(path.Dir(file), "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, other := range files {
		if other == file || strings.HasSuffix(other, "_test.go") {
			continue
		}
		for _, decl := range parse(t, root, other).Decls {
			for _, name := range book.Names(decl) {
				if name != "_" {
					names[name] = true
				}
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
