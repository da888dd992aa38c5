// The names of client-go's that pages set beside ours.

package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// bridges are the tables "From our names to client-go's".
var bridges = map[string]struct{ files, names []string }{
	"docs/04-indexer-a-store-of-our-own.md": {
		[]string{"store.go", "thread_safe_store.go", "index.go", "controller.go", "the_real_fifo.go"},
		[]string{
			"cache", "cache.cacheStorage", "cache.keyFunc", "cache.transformer", "cache.Update", "cache.Transaction",
			"TransactionStore", "Transaction",
			"threadSafeMap", "threadSafeMap.lock", "threadSafeMap.items", "threadSafeMap.index", "threadSafeMap.rv",
			"threadSafeMap.Update", "threadSafeMap.updateLocked",
			"threadSafeMap.DeleteWithObject", "threadSafeMap.deleteLocked", "threadSafeMap.Transaction", "rvFromObject",
			"storeIndex", "storeIndex.indexers", "storeIndex.indices",
			"storeIndex.updateIndices", "storeIndex.updateSingleIndex",
			"storeIndex.addKeyToIndex", "storeIndex.deleteKeyFromIndex",
			"storeIndex.getKeysByIndex", "storeIndex.getKeysFromIndex",
			"index", "MetaNamespaceIndexFunc",
			"controller.processLoop", "RealFIFO.PopBatch", "processDeltasInBatch",
		},
	},
	"docs/06-processor.md": {
		[]string{"shared_informer.go"},
		[]string{
			"addNotification", "updateNotification", "deleteNotification",
			"sharedProcessor", "sharedProcessor.addListener", "sharedProcessor.removeListener",
			"sharedProcessor.distribute", "sharedProcessor.shouldResync",
			"processorListener", "processorListener.addCh", "processorListener.nextCh",
			"processorListener.pendingNotifications", "processorListener.add", "processorListener.pop",
			"processorListener.run", "processorListener.syncTracker", "processorListener.ShutdownChan",
			"sharedIndexInformer.blockDeltas",
		},
	},
	"docs/07-shared-informer-beside-client-go.md": {
		[]string{"shared_informer.go", "controller.go", "the_real_fifo.go"},
		[]string{
			"sharedIndexInformer",
			"RealFIFO", "controller.processLoop", "processDeltas",
			"sharedIndexInformer.blockDeltas",
			"sharedIndexInformer.OnAdd", "sharedIndexInformer.OnUpdate", "sharedIndexInformer.OnDelete",
			"sharedProcessor",
			"sharedIndexInformer.AddEventHandlerWithOptions",
			"determineResyncPeriod",
			"sharedIndexInformer.cacheMutationDetector",
			"dummyController",
		},
	},
}

func TestClientGoHasTheNamesOfTheBridges(t *testing.T) {
	for page, bridge := range bridges {
		declared := clientGoNames(t, bridge.files)
		for _, name := range bridge.names {
			if !declared[name] {
				t.Errorf("%s: client-go has no %s any more", page, name)
			}
		}
	}
}

// clientGoNames are the types, functions, methods (as Type.Method) and fields
// (as Type.field) that these files of client-go's tools/cache declare.
func clientGoNames(t *testing.T, files []string) map[string]bool {
	t.Helper()
	dir, err := exec.CommandContext(t.Context(), "go", "list", "-f", "{{.Dir}}",
		"k8s.io/client-go/tools/cache").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		file = filepath.Join(strings.TrimSpace(string(dir)), file)
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
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
	name, _, _ := strings.Cut(types.ExprString(function.Recv.List[0].Type), "[") // without type parameters
	return strings.TrimPrefix(name, "*") + "."
}
