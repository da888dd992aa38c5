// The names of client-go that docs/reference/names.md sets beside ours.

package main

import (
	"go/ast"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"example.com/informer/docs/book"
)

// A bridge says where a chapter of docs/reference/names.md has names of client-go, and which files
// of client-go declare them.
type bridge struct {
	// files are the files of client-go. A file without a folder is in tools/cache.
	files []string

	// columns are the headings of table columns with names of client-go. If a heading has the name
	// of a type in backquotes, the names in the column are members of this type, or top-level
	// names.
	columns []string
}

var bridges = map[string]bridge{
	"01": {
		files: []string{"delta_fifo.go", "the_real_fifo.go", "fifo.go", "store.go", "expiration_cache.go",
			"undelta_store.go", "heap.go"},
		columns: []string{"`DeltaFIFO`, in delta_fifo.go", "`RealFIFO`, in the_real_fifo.go", "type", "made by", "in",
			"its object", "type and constructor"},
	},
	"02": {
		files: []string{
			"listwatch.go", "k8s.io/client-go/rest/client.go", "k8s.io/client-go/rest/request.go",
			"k8s.io/client-go/rest/watch/decoder.go", "k8s.io/apimachinery/pkg/watch/streamwatcher.go",
			"k8s.io/apimachinery/pkg/runtime/serializer/streaming/streaming.go",
		},
		columns: []string{"in the steps", "behind it"},
	},
	"03": {
		files:   []string{"reflector.go", "store.go", "k8s.io/client-go/tools/pager/pager.go"},
		columns: []string{"client-go's"},
	},
	"04": {
		files:   []string{"store.go", "thread_safe_store.go", "index.go", "controller.go", "the_real_fifo.go"},
		columns: []string{"type", "in client-go's tools/cache"},
	},
	"05": {
		files:   []string{"controller.go", "the_real_fifo.go", "store.go", "reflector.go"},
		columns: []string{"in client-go"},
	},
	"06": {
		files:   []string{"shared_informer.go", "k8s.io/utils/buffer/ring_growing.go"},
		columns: []string{"in client-go"},
	},
	"07": {
		files: []string{"shared_informer.go", "controller.go", "the_real_fifo.go",
			"k8s.io/client-go/informers/factory.go"},
		columns: []string{"client-go's", "`sharedIndexInformer`"},
	},
	"08": {
		files: []string{
			"k8s.io/client-go/informers/factory.go", "k8s.io/client-go/informers/generic.go",
			"k8s.io/client-go/informers/core/interface.go", "k8s.io/client-go/informers/core/v1/interface.go",
			"k8s.io/client-go/informers/core/v1/pod.go", "shared_informer.go",
		},
		columns: []string{"in client-go's `informers`", "in client-go: the function",
			"in client-go: the field of `sharedInformerFactory`"},
	},
}

func TestClientGoHasTheNamesOfTheBridges(t *testing.T) {
	dirs := packageDirs(t)
	text := readFile(t, root(t), "docs/reference/names.md")
	for chapter, bridge := range bridges {
		_, section, found := strings.Cut(text, "\n## Chapter "+chapter)
		if !found {
			t.Errorf("docs/reference/names.md has no chapter %s", chapter)
		}
		section, _, _ = strings.Cut(section, "\n## ")
		declared := map[string]bool{}
		for _, file := range bridge.files {
			declare(t, declared, filepath.Join(dirs[packageOf(file)], path.Base(file)))
		}
		names := namesOn(t, section, bridge.columns)
		if len(names) == 0 {
			t.Errorf("chapter %s of docs/reference/names.md has no names", chapter)
		}
		for _, name := range names {
			if !isDeclared(declared, name) {
				t.Errorf("chapter %s of docs/reference/names.md has %s, and client-go has no such name in %q",
					chapter, name, bridge.files)
			}
		}
		t.Logf("chapter %s: %q", chapter, names)
	}
}

var (
	codeSpan     = regexp.MustCompile("`([^`]+)`")
	plainName    = regexp.MustCompile(`^\w+(\.\w+)?$`)
	mermaidBlock = regexp.MustCompile("(?ms)^```mermaid\n(.*?)^```$")
	inWords      = regexp.MustCompile(`accDescr \{[^}]*\}`)
	mixedCaps    = regexp.MustCompile(`\b([a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_locked)\b`)
	sameNames    = regexp.MustCompile(`the same (names|in client-go)`)
)

// A clientGoName is a name of client-go on the page.
type clientGoName struct {
	name     string // X, or Type.x
	ofColumn string // the type in the heading of its column, or ""
}

func (n clientGoName) String() string {
	if n.ofColumn == "" {
		return n.name
	}
	return n.name + " (of " + n.ofColumn + ")"
}

// namesOn returns the names of client-go in a section of the page: those of the columns, of the
// diagrams, and of the paragraphs and cells that say that client-go has the same names.
func namesOn(t *testing.T, section string, columns []string) (names []clientGoName) {
	t.Helper()
	for _, block := range mermaidBlock.FindAllString(section, -1) {
		for _, name := range mixedCaps.FindAllString(inWords.ReplaceAllString(block, ""), -1) {
			names = append(names, clientGoName{name: name})
		}
	}
	section = mermaidBlock.ReplaceAllString(section, "")
	found := map[string]bool{}
	for _, paragraph := range strings.Split(section, "\n\n") {
		switch {
		case strings.HasPrefix(strings.TrimSpace(paragraph), "|"):
			for heading, cells := range columnsOf(paragraph) {
				ofColumn := ""
				if slices.Contains(columns, heading) {
					found[heading] = true
					if match := codeSpan.FindStringSubmatch(heading); match != nil {
						ofColumn = match[1]
					}
				}
				for _, cell := range cells {
					if slices.Contains(columns, heading) || sameNames.MatchString(cell) {
						names = append(names, spans(cell, ofColumn)...)
					}
				}
			}
		case sameNames.MatchString(paragraph):
			names = append(names, spans(paragraph, "")...)
		}
	}
	for _, heading := range columns {
		if !found[heading] {
			t.Errorf("the section has no table with a column %q", heading)
		}
	}
	slices.SortFunc(names, func(a, b clientGoName) int { return strings.Compare(a.String(), b.String()) })
	return slices.Compact(names)
}

// columnsOf returns the cells of a Markdown table by the headings of their columns. A cell that
// begins with "the same" also has the text of the cell on its left.
func columnsOf(table string) map[string][]string {
	columns := map[string][]string{}
	var headings []string
	for i, line := range strings.Split(strings.TrimSpace(table), "\n") {
		cells := strings.Split(strings.TrimSuffix(strings.TrimPrefix(line, "|"), "|"), "|")
		for k, cell := range cells {
			cells[k] = strings.TrimSpace(cell)
		}
		switch i {
		case 0:
			headings = cells
		case 1: // |---|---|
		default:
			for k, cell := range cells {
				if k > 0 && strings.HasPrefix(cell, "the same") {
					cells[k] = cells[k-1] + "; " + cell
				}
				columns[headings[k]] = append(columns[headings[k]], cells[k])
			}
		}
	}
	return columns
}

// spans returns the names in the code spans of a text. It leaves out paths and the names of package
// reflect.
func spans(text, ofColumn string) (names []clientGoName) {
	for _, match := range codeSpan.FindAllStringSubmatch(text, -1) {
		name := strings.TrimSuffix(match[1], "[any]")
		if plainName.MatchString(name) && !strings.HasPrefix(name, "reflect.") {
			names = append(names, clientGoName{name: name, ofColumn: ofColumn})
		}
	}
	return names
}

// isDeclared reports whether the files declare a name. A name without a type may be a member of any
// type, unless the heading of its column has a type. `cache.Indexers` is Indexers in package cache.
func isDeclared(declared map[string]bool, n clientGoName) bool {
	if declared[n.name] || declared[strings.TrimPrefix(n.name, "cache.")] {
		return true
	}
	if strings.Contains(n.name, ".") {
		return false
	}
	if declared[n.ofColumn] {
		return declared[n.ofColumn+"."+n.name] || declared[n.ofColumn+"Options."+n.name]
	}
	for name := range maps.Keys(declared) {
		if strings.HasSuffix(name, "."+n.name) {
			return true
		}
	}
	return false
}

// packageOf returns the package of a file of a bridge.
func packageOf(file string) string {
	if !strings.Contains(file, "/") {
		return "k8s.io/client-go/tools/cache"
	}
	return path.Dir(file)
}

// packageDirs returns the folders of the packages of all bridges.
func packageDirs(t *testing.T) map[string]string {
	t.Helper()
	args := []string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}
	for _, bridge := range bridges {
		for _, file := range bridge.files {
			args = append(args, packageOf(file))
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", args...).Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(output)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[pkg] = dir
	}
	return dirs
}

// declare adds the names that a file declares: types, functions, constants and variables, methods
// and fields as Type.Method and Type.field, and parameters as Function.parameter.
func declare(t *testing.T, names map[string]bool, file string) {
	t.Helper()
	tree := parse(t, os.DirFS(filepath.Dir(file)), filepath.Base(file))
	for _, decl := range tree.Decls {
		for _, name := range book.Names(decl) {
			names[name] = true
		}
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.TypeSpec:
			switch spec := node.Type.(type) {
			case *ast.StructType:
				declareFields(names, node.Name.Name, spec.Fields)
			case *ast.InterfaceType:
				declareFields(names, node.Name.Name, spec.Methods)
			}
		case *ast.FuncDecl:
			declareFields(names, node.Name.Name, node.Type.Params)
		}
		return true
	})
}

// declareFields adds the fields of a list as owner.field. An embedded field has the name of its
// type.
func declareFields(names map[string]bool, owner string, fields *ast.FieldList) {
	for _, field := range fields.List {
		if field.Names == nil {
			names[owner+"."+types.ExprString(field.Type)] = true
		}
		for _, name := range field.Names {
			names[owner+"."+name.Name] = true
		}
	}
}
