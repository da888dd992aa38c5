// Tests of the exercises in files with code that is not the book's.

package main

import (
	"bytes"
	"encoding/json"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// TestExercisesOnForeignCode starts each exercise in a file that has the reader's code for all
// exercises of the file, with helpers of the reader's. The file still compiles, has the hole or the
// bug, and has the reader's code everywhere else. Afterwards the reader's code can be brought back.
func TestExercisesOnForeignCode(t *testing.T) {
	root := value(workspace.Root("."))
	byFile := map[string][]exercise{}
	for _, e := range value(load(root)) {
		byFile[e.file] = append(byFile[e.file], e)
	}
	var folders []string
	for file, exercises := range byFile {
		if len(exercises) == 1 {
			delete(byFile, file)
			continue
		}
		folders = append(folders, "./"+filepath.Dir(file))
	}
	checker := newTypeChecker(t, root, folders)
	for file, exercises := range byFile {
		t.Run(file, func(t *testing.T) {
			book := string(value(os.ReadFile(filepath.Join(root, file))))
			v := versions{book: book}
			var dropped []string
			for _, e := range exercises {
				v.names = append(v.names, changedNames(book, value(e.begin(book)))...)
				dropped = append(dropped, e.drop...)
			}
			slices.Sort(v.names)
			v.names = slices.Compact(v.names)
			v.mine = foreign(t, book, v.names, dropped)
			if err := checker.check(t, file, v.mine); err != nil {
				t.Fatalf("the foreign code: %v\n%s", err, v.mine)
			}
			for _, e := range exercises {
				tryForeign(t, v, e, checker)
			}
		})
	}
}

// tryForeign starts an exercise in a file with the reader's code, and then brings that code back.
func tryForeign(t *testing.T, v versions, e exercise, checker *typeChecker) {
	t.Helper()
	wanted := value(e.begin(v.book))
	names := changedNames(v.book, wanted)
	started := transplant(v.mine, wanted, names)
	if err := checker.check(t, e.file, started); err != nil {
		t.Errorf("after the start of %s: %v", e.name, err)
	}
	if !same(started, wanted, names) {
		t.Errorf("after the start of %s, %q are not as the exercise wants them", e.name, names)
	}
	others := slices.DeleteFunc(changedNames(v.mine, started), func(name string) bool {
		return slices.Contains(names, name) || textOf(v.mine, name) == "" // a helper that the exercise needs
	})
	if len(others) > 0 {
		t.Errorf("the start of %s has changed %q too", e.name, others)
	}
	back := transplant(started, v.book, names)
	if !same(back, v.book, names) {
		t.Errorf("after the reset of %s, %q are not the book's", e.name, names)
	}
	if again := transplant(back, v.mine, names); !same(again, v.mine, v.names) {
		t.Errorf("after %s, the reader's own code does not come back", e.name)
	}
}

// foreign returns the text with other code for these functions, which does the same: the work is
// done by a helper at the end of the file, and there are no comments. The functions in dropped are
// gone; others of another name do their work.
func foreign(t *testing.T, text string, names, dropped []string) string {
	t.Helper()
	for _, name := range dropped {
		_, method, _ := strings.Cut("."+name, ".")
		method = method[strings.LastIndex(method, ".")+1:]
		text = regexp.MustCompile(`\b`+method+`\b`).ReplaceAllString(text, method+"OfMine")
	}
	for _, name := range names {
		if slices.Contains(dropped, name) || textOf(text, name) == "" {
			continue
		}
		d, err := findFunction(text, name)
		must.NoError(t, err)
		signature, call := delegate(t, text, name)
		text = text[:d.begin] + signature[0] + "{\n" + call + "\n}" + text[d.end:] +
			"\n" + signature[1] + text[d.body:d.end] + "\n"
	}
	return text
}

// delegate returns the signature of a function and of its helper, and a call of the helper.
func delegate(t *testing.T, text, name string) (signature [2]string, call string) {
	t.Helper()
	file := value(parser.ParseFile(token.NewFileSet(), "", text, 0))
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if !ok || functionName(text, f) != name {
			continue
		}
		head := text[f.Pos()-1 : f.Body.Pos()-1]
		end := int(f.Name.End() - f.Pos())
		call = f.Name.Name + "OfMine(" + arguments(text, f.Type.Params) + ")"
		if f.Recv != nil {
			call = f.Recv.List[0].Names[0].Name + "." + call
		}
		if f.Type.Results != nil {
			call = "return " + call
		}
		return [2]string{head, head[:end] + "OfMine" + head[end:]}, "\t" + call
	}
	t.Fatalf("there is no function %s", name)
	return signature, ""
}

// arguments returns the names of parameters, as a call has them.
func arguments(text string, parameters *ast.FieldList) string {
	var all []string
	for _, field := range parameters.List {
		for _, name := range field.Names {
			argument := name.Name
			if argument == "_" {
				argument = "*new(" + text[field.Type.Pos()-1:field.Type.End()-1] + ")"
			}
			if _, variadic := field.Type.(*ast.Ellipsis); variadic {
				argument += "..."
			}
			all = append(all, argument)
		}
	}
	return strings.Join(all, ", ")
}

// A listedPackage is a package as go list prints it.
type listedPackage struct {
	ImportPath string
	Dir        string
	Export     string // the file with what the compiler knows of the package
	GoFiles    []string
}

// A typeChecker checks the types of packages, with another text of one file.
type typeChecker struct {
	set      *token.FileSet
	packages map[string]listedPackage // by folder
	importer types.Importer
}

// newTypeChecker returns a typeChecker for the packages in these folders. It wants all that they
// import compiled with the flags of this test, so that go has it in its cache.
func newTypeChecker(t *testing.T, root string, folders []string) *typeChecker {
	t.Helper()
	args := []string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}
	info, _ := debug.ReadBuildInfo()
	if info != nil && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		args = append(args, "-race")
	}
	list := exec.CommandContext(t.Context(), "go", append(args, folders...)...)
	list.Dir = root
	output, err := list.Output()
	must.NoError(t, err)
	c := &typeChecker{set: token.NewFileSet(), packages: map[string]listedPackage{}}
	exports := map[string]string{}
	for decoder := json.NewDecoder(bytes.NewReader(output)); decoder.More(); {
		var p listedPackage
		must.NoError(t, decoder.Decode(&p))
		exports[p.ImportPath] = p.Export
		if folder, err := filepath.Rel(root, p.Dir); err == nil {
			c.packages[folder] = p
		}
	}
	c.importer = importer.ForCompiler(c.set, "gc", func(path string) (io.ReadCloser, error) {
		return os.Open(exports[path])
	})
	return c
}

// check checks the package of a file, with this text of the file.
func (c *typeChecker) check(t *testing.T, file, text string) error {
	t.Helper()
	tested, ok := c.packages[filepath.Dir(file)]
	if !ok {
		t.Fatalf("go list has no package with %s", file)
	}
	parsed, err := parser.ParseFile(c.set, file, text, 0)
	if err != nil {
		return err
	}
	files := []*ast.File{parsed}
	for _, name := range tested.GoFiles {
		if name != filepath.Base(file) {
			files = append(files, value(parser.ParseFile(c.set, filepath.Join(tested.Dir, name), nil, 0)))
		}
	}
	_, err = (&types.Config{Importer: c.importer}).Check(tested.ImportPath, c.set, files, nil)
	return err
}
