// Tests of the exercises in files with code that is not the book's.

package main

import (
	"encoding/json"
	"errors"
	"fmt"
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
	"slices"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/workspace"
)

// TestExercisesOnForeignCode starts each exercise in a file that has the reader's code for another
// exercise, with helpers of the reader's. The file still compiles, has the hole or the bug, and has
// the reader's code everywhere else. Afterwards the reader's code can be brought back.
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
	exports := exportData(t, root, folders)
	for file, exercises := range byFile {
		t.Run(file, func(t *testing.T) {
			check := typeChecker(t, root, file, exports)
			book := string(value(os.ReadFile(filepath.Join(root, file))))
			for _, written := range exercises {
				names := changedNames(book, value(written.begin(book)))
				mine := foreign(t, book, names, written.drop)
				if err := check(mine); err != nil {
					t.Fatalf("the foreign code for %s: %v", written.name, err)
				}
				for _, e := range exercises {
					if e.name != written.name {
						tryForeign(t, versions{mine: mine, book: book, names: names}, e, check)
					}
				}
			}
		})
	}
}

// tryForeign starts an exercise, and then brings the reader's code back. v is the reader's code for
// another exercise.
func tryForeign(t *testing.T, v versions, e exercise, check func(text string) error) {
	t.Helper()
	wanted := value(e.begin(v.book))
	names := changedNames(v.book, wanted)
	started := transplant(v.mine, wanted, names)
	if err := check(started); err != nil {
		t.Errorf("after the start of %s in a file with foreign code: %v", e.name, err)
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
	if err := check(back); err != nil {
		t.Errorf("after the reset of %s in a file with foreign code: %v", e.name, err)
	}
	again := transplant(back, v.mine, v.names)
	if changed := changedNames(v.mine, again); len(changed) > 0 {
		t.Errorf("after %s, the reader's own code does not come back: %q", e.name, changed)
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
		must.Do(t, err)
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
		call = f.Name.Name + "OfMine(" + arguments(f.Type.Params) + ")"
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
func arguments(parameters *ast.FieldList) string {
	var all []string
	for _, field := range parameters.List {
		for _, name := range field.Names {
			argument := name.Name
			if argument == "_" {
				argument = "nil"
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

// exportData lists packages and all that they import.
func exportData(t *testing.T, root string, folders []string) (all []listedPackage) {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,GoFiles"}, folders...)
	list := exec.CommandContext(t.Context(), "go", args...)
	list.Dir = root
	output, err := list.Output()
	must.Do(t, err)
	for decoder := json.NewDecoder(strings.NewReader(string(output))); ; {
		var p listedPackage
		err := decoder.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		must.Do(t, err)
		all = append(all, p)
	}
}

// typeChecker returns a function that checks the types of a package with another text of one file.
func typeChecker(t *testing.T, root, file string, packages []listedPackage) (check func(text string) error) {
	t.Helper()
	i := slices.IndexFunc(packages, func(p listedPackage) bool { return p.Dir == filepath.Join(root, filepath.Dir(file)) })
	if i < 0 {
		t.Fatalf("go list has no package with %s", file)
	}
	tested, set := packages[i], token.NewFileSet()
	var others []*ast.File
	for _, name := range tested.GoFiles {
		if name != filepath.Base(file) {
			others = append(others, value(parser.ParseFile(set, filepath.Join(tested.Dir, name), nil, 0)))
		}
	}
	imports := importer.ForCompiler(set, "gc", func(path string) (io.ReadCloser, error) {
		i := slices.IndexFunc(packages, func(p listedPackage) bool { return p.ImportPath == path })
		if i < 0 {
			return nil, fmt.Errorf("go list has no package %s", path)
		}
		return os.Open(packages[i].Export)
	})
	return func(text string) error {
		parsed, err := parser.ParseFile(set, file, text, 0)
		if err != nil {
			return err
		}
		config := types.Config{Importer: imports}
		_, err = config.Check(tested.ImportPath, set, append(slices.Clone(others), parsed), nil)
		return err
	}
}
