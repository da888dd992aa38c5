// Turning a test file of client-go into a test file for our parts.

package upstream

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"slices"
	"strconv"
	"strings"
)

// A source is a test file of client-go.
type source struct {
	file    string
	edits   []edit            // they come first
	leftOut map[string]string // the tests that do not run, and why

	ofStores bool // they run with each of our stores
}

// An edit replaces a text, wherever it is in a file.
type edit struct{ old, new string }

// inBubble returns an edit that makes a test run in fake time. It is for tests that measure times,
// and that fail on a slow machine.
func inBubble(test string) edit {
	before, after := "func "+test+"(t *testing.T) {", "func bubble"+test+"(t *testing.T) {"
	return edit{before, before + " bubble.Test(t, bubble" + test + ") }; " + after}
}

// The tests of client-go are in the package that they test. The header replaces the package clause.
// The footer comes after the end of the file: without it, a file that uses none of these packages
// would not compile.
const (
	header = `package adapter_test; import . "k8s.io/client-go/tools/cache"; import bubble "testing/synctest"; ` +
		`import ours "example.com/informer/docs/lab/upstream/adapter"`
	footer = "\nvar _, _, _ = NewStore, ours.NewStore, bubble.Test\n"
)

// turn returns the text of a file that tests our parts, and the names of its tests. The lines keep
// their numbers, so that a failure names the line in client-go's file. If the file no longer
// matches the source, turn returns an error.
func turn(text string, s source) (string, []string, error) {
	for _, e := range s.edits {
		if !strings.Contains(text, e.old) {
			return "", nil, fmt.Errorf("%s: there is no %q any more, to be edited", s.file, e.old)
		}
		text = strings.ReplaceAll(text, e.old, e.new)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, s.file, text, parser.SkipObjectResolution)
	if err != nil {
		return "", nil, err
	}
	t := turner{files: files, text: text, selected: map[string]bool{}}
	t.replace(file.Package, file.Name.End(), header)
	tests, err := t.turnFunctions(file, s)
	t.blankImports(file)
	return t.result() + footer, tests, err
}

// A turner collects the replacements in a text.
type turner struct {
	files        *token.FileSet
	text         string
	replacements []replacement
	selected     map[string]bool // the x of each selector x.y: the packages that the file uses are among them
}

type replacement struct {
	from, to int // offsets
	text     string
}

func (t *turner) replace(from, to token.Pos, text string) {
	t.replacements = append(t.replacements,
		replacement{from: t.files.Position(from).Offset, to: t.files.Position(to).Offset, text: text})
}

// result returns the text with all replacements.
func (t *turner) result() string {
	slices.SortFunc(t.replacements, func(a, b replacement) int { return cmp.Compare(a.from, b.from) })
	var result bytes.Buffer
	done := 0 // the offset behind the last replacement
	for _, r := range t.replacements {
		result.WriteString(t.text[done:r.from])
		result.WriteString(r.text)
		lines := strings.Count(t.text[r.from:r.to], "\n")
		result.WriteString(strings.Repeat("\n", lines)) // so that the lines below keep their numbers
		done = r.to
	}
	result.WriteString(t.text[done:])
	return result.String()
}

// turnFunctions removes the tests that are left out, and the functions that the adapter replaces.
// It makes the other declarations use our names. It returns the tests that are left.
func (t *turner) turnFunctions(file *ast.File, s source) (tests []string, err error) {
	found := map[string]bool{}
	for _, decl := range file.Decls {
		function, ok := decl.(*ast.FuncDecl)
		if !ok || function.Recv != nil {
			t.rename(decl)
			continue
		}
		name := function.Name.Name
		found[name] = true
		if s.leftOut[name] != "" || ours[name] != "" {
			t.replace(decl.Pos(), decl.End(), "")
			continue
		}
		t.rename(decl)
		if strings.HasPrefix(name, "Test") && name != "TestMain" {
			tests = append(tests, name)
		}
	}
	for name := range s.leftOut {
		if !found[name] {
			err = fmt.Errorf("%s: there is no %s any more, to be left out", s.file, name)
		}
	}
	return tests, err
}

// rename replaces client-go's names with ours.
func (t *turner) rename(root ast.Node) {
	ast.Inspect(root, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.SelectorExpr:
			if x, ok := node.X.(*ast.Ident); ok {
				t.selected[x.Name] = true
			}
			t.rename(node.X)
			return false
		case *ast.Ident:
			if name := ours[node.Name]; name != "" {
				t.replace(node.Pos(), node.End(), "ours."+name)
			}
		}
		return true
	})
}

// blankImports turns unused imports into blank imports.
func (t *turner) blankImports(file *ast.File) {
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value) // the parser has accepted it
		dir, base := path.Split(importPath)
		used := t.selected[base] || t.selected[path.Base(dir)] // the second for k8s.io/klog/v2
		if spec.Name != nil {
			used = t.selected[spec.Name.Name]
		}
		if !used {
			t.replace(spec.Pos(), spec.Path.Pos(), "_ ")
		}
	}
}
