// How a test file of client-go's becomes a test of ours.

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

// A source is a test file of client-go's.
type source struct {
	file    string
	edits   []edit            // of its text, before anything else
	leftOut map[string]string // tests that do not run, and why
}

type edit struct{ old, new string }

// inBubble has a test run in fake time: it is about times, and takes a machine for fast.
func inBubble(test string) edit {
	before, after := "func "+test+"(t *testing.T) {", "func bubble"+test+"(t *testing.T) {"
	return edit{before, before + " bubble.Test(t, bubble" + test + ") }; " + after}
}

// Client-go's tests are in the package that they test. These lines take the place
// of the package clause, and follow the end of the file: without the second, a
// file that uses none of these packages would not compile.
const (
	header = `package adapter_test; import . "k8s.io/client-go/tools/cache"; import bubble "testing/synctest"; ` +
		`import ours "example.com/informer/docs/lab/upstream/adapter"`
	footer = "\nvar _, _, _ = NewStore, ours.NewStore, bubble.Test\n"
)

// turn returns the text of a file that tests our parts, and the tests in it. Each
// line of it is where it was, so a failure names client-go's own line. An error
// means that the file is no longer what the source says of it.
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

// A turner collects what is to be replaced in a text.
type turner struct {
	files        *token.FileSet
	text         string
	replacements []replacement
	selected     map[string]bool // the x of each x.y
}

type replacement struct {
	from, to int
	with     string
}

func (t *turner) replace(from, to token.Pos, with string) {
	t.replacements = append(t.replacements,
		replacement{t.files.Position(from).Offset, t.files.Position(to).Offset, with})
}

func (t *turner) result() string {
	slices.SortFunc(t.replacements, func(a, b replacement) int { return cmp.Compare(a.from, b.from) })
	var result bytes.Buffer
	at := 0
	for _, r := range t.replacements {
		result.WriteString(t.text[at:r.from])
		result.WriteString(r.with)
		result.WriteString(strings.Repeat("\n", strings.Count(t.text[r.from:r.to], "\n")))
		at = r.to
	}
	result.WriteString(t.text[at:])
	return result.String()
}

// turnFunctions takes out the functions that are left out and those that we have
// in their place, and has the others use our names. It returns the tests that stay.
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

// rename puts our names in the place of client-go's.
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

// blankImports turns imports that are no longer used into blank ones.
func (t *turner) blankImports(file *ast.File) {
	for _, spec := range file.Imports {
		importPath, _ := strconv.Unquote(spec.Path.Value)
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
