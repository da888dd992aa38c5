// The names of client-go's that the page sets beside ours.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/scripts/harness/must"
)

// clientGoNames are the types, functions, methods (as Type.Method) and fields
// (as Type.field) that these files of client-go's tools/cache declare.
func clientGoNames(t *testing.T, files ...string) map[string]bool {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}",
		"k8s.io/client-go/tools/cache").Output()
	must.Do(t, err)
	names := map[string]bool{}
	for _, file := range files {
		file = filepath.Join(strings.TrimSpace(string(dir)), file)
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		must.Do(t, err)
		ast.Inspect(tree, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.FuncDecl:
				names[receiver(node)+node.Name.Name] = true
			case *ast.TypeSpec:
				names[node.Name.Name] = true
				if fields, ok := node.Type.(*ast.StructType); ok {
					for _, field := range fields.Fields.List {
						for _, name := range field.Names {
							names[node.Name.Name+"."+name.Name] = true
						}
					}
				}
			}
			return true
		})
	}
	return names
}

// receiver is "Type." for a method, and nothing for a function.
func receiver(function *ast.FuncDecl) string {
	if function.Recv == nil {
		return ""
	}
	of := function.Recv.List[0].Type
	if star, ok := of.(*ast.StarExpr); ok {
		of = star.X
	}
	if name, ok := of.(*ast.Ident); ok {
		return name.Name + "."
	}
	return "?."
}

func TestTheNamesOfClientGoAreThere(t *testing.T) {
	names := clientGoNames(t, "shared_informer.go", "controller.go", "the_real_fifo.go")
	for _, want := range []string{
		"sharedIndexInformer",
		"RealFIFO", "controller.processLoop", "processDeltas",
		"sharedIndexInformer.blockDeltas",
		"sharedIndexInformer.OnAdd", "sharedIndexInformer.OnUpdate", "sharedIndexInformer.OnDelete",
		"sharedProcessor",
		"sharedIndexInformer.AddEventHandlerWithOptions",
		"determineResyncPeriod",
		"sharedIndexInformer.cacheMutationDetector",
		"dummyController",
	} {
		if !names[want] {
			t.Errorf("client-go has no %s any more: the page's table is wrong", want)
		}
	}
}
