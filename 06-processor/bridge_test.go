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
)

// sharedInformerSource is the path of the pinned shared_informer.go.
func sharedInformerSource(t *testing.T) string {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}",
		"k8s.io/client-go/tools/cache").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(strings.TrimSpace(string(dir)), "shared_informer.go")
}

// declared are the types of a file, and their methods and fields as Type.name.
func declared(t *testing.T, file string) map[string]bool {
	t.Helper()
	tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	ast.Inspect(tree, func(node ast.Node) bool {
		switch d := node.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				receiver := d.Recv.List[0].Type
				if star, ok := receiver.(*ast.StarExpr); ok {
					receiver = star.X
				}
				if receiver, ok := receiver.(*ast.Ident); ok {
					names[receiver.Name+"."+d.Name.Name] = true
				}
			}
			return false
		case *ast.TypeSpec:
			names[d.Name.Name] = true
			if fields, ok := d.Type.(*ast.StructType); ok {
				for _, field := range fields.Fields.List {
					for _, name := range field.Names {
						names[d.Name.Name+"."+name.Name] = true
					}
				}
			}
		}
		return true
	})
	return names
}

func TestClientGoHasTheNamesOfTheBridge(t *testing.T) {
	names := declared(t, sharedInformerSource(t))
	for _, name := range []string{
		"addNotification", "updateNotification", "deleteNotification",
		"sharedProcessor", "sharedProcessor.addListener", "sharedProcessor.removeListener",
		"sharedProcessor.distribute", "sharedProcessor.shouldResync",
		"processorListener", "processorListener.addCh", "processorListener.nextCh",
		"processorListener.pendingNotifications", "processorListener.add", "processorListener.pop",
		"processorListener.run", "processorListener.syncTracker", "processorListener.ShutdownChan",
		"sharedIndexInformer.blockDeltas",
	} {
		if !names[name] {
			t.Errorf("shared_informer.go has no %s any more", name)
		}
	}
}
