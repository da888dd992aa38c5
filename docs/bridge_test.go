// The names of client-go's that pages set beside ours.

package main

import (
	"go/ast"
	"go/types"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"example.com/informer/docs/book"
	"example.com/informer/scripts/harness/expect"
)

// A bridge is a table on a page that leads to names in these files. A file without
// a folder is in client-go's tools/cache.
type bridge struct{ files, names []string }

// bridges are the tables of names.md, by chapter.
var bridges = map[string]bridge{
	"01": {
		[]string{"delta_fifo.go", "the_real_fifo.go"},
		[]string{
			"DeltaFIFO.items", "DeltaFIFO.queue", "DeltaFIFO.lock", "DeltaFIFO.cond", "DeltaFIFO.knownObjects",
			"DeltaFIFO.KeyOf", "DeltaFIFO.queueActionLocked", "DeltaFIFO.queueActionInternalLocked",
			"dedupDeltas", "isDup", "isDeletionDup", "DeltaFIFO.emitDeltaTypeReplaced",
			"DeltaFIFO.Replace", "DeltaFIFO.Resync", "DeltaFIFO.syncKeyLocked", "DeltaFIFO.Pop", "DeltaFIFO.Close",
			"DeltaFIFO.populated", "DeltaFIFO.initialPopulationCount", "DeltaFIFO.checkSynced_locked",
			"DeltaFIFO.HasSynced", "DeltaFIFO.HasSyncedChecker", "DeltaFIFO.transformer",
			"DeltaFIFOOptions.EmitDeltaTypeReplaced",
			"RealFIFO.items", "RealFIFO.lock", "RealFIFO.cond", "RealFIFO.knownObjects",
			"RealFIFO.addToItems_locked", "RealFIFO.emitAtomicEvents", "RealFIFO.Replace", "reconcileReplacement",
			"RealFIFO.addReplaceToItemsLocked", "RealFIFO.Resync", "RealFIFO.addResyncToItemsLocked",
			"RealFIFO.Pop", "RealFIFO.PopBatch", "RealFIFO.Close", "RealFIFO.Bookmark",
			"RealFIFO.populated", "RealFIFO.initialPopulationCount", "RealFIFO.checkSynced_locked",
			"RealFIFO.HasSynced", "RealFIFO.HasSyncedChecker",
			"RealFIFO.transformer", "RealFIFO.batchSize", "RealFIFO.unlockWhileProcessing",
			"RealFIFOOptions.AtomicEvents", "RealFIFOOptions.EmitDeltaTypeBookmark",
			"Added", "Updated", "Deleted", "Sync", "Replaced", "ReplacedAll", "SyncAll", "Bookmark",
			"Delta", "ReplacedAllInfo", "SyncAllInfo", "BookmarkInfo",
		},
	},
	"02": {
		[]string{
			"listwatch.go", "k8s.io/client-go/rest/client.go", "k8s.io/client-go/rest/request.go",
			"k8s.io/client-go/rest/watch/decoder.go", "k8s.io/apimachinery/pkg/watch/streamwatcher.go",
			"k8s.io/apimachinery/pkg/runtime/serializer/streaming/streaming.go",
		},
		[]string{
			"NewListWatchFromClient", "NewFilteredListWatchFromClient", "ListWatch", "Getter", "RESTClient.Get",
			"Request.Namespace", "Request.Resource", "Request.VersionedParams", "Request.Do", "Result.Get",
			"Request.Watch", "Request.newStreamWatcher", "StreamWatcher.ResultChan", "StreamWatcher.receive",
			"Decoder", "NewDecoder", "decoder",
		},
	},
	"03": {
		[]string{"reflector.go", "store.go", "k8s.io/client-go/tools/pager/pager.go"},
		[]string{
			"ReflectorOptions", "NewReflectorWithOptions", "Reflector.RunWithContext",
			"Reflector.ListAndWatchWithContext", "Reflector.useWatchList", "Reflector.watchList", "Store",
			"Reflector.list", "ListPager", "Reflector.relistResourceVersion", "Reflector.rewatchResourceVersion",
			"Reflector.watch", "Reflector.watchWithResync", "handleAnyWatch", "Reflector.startResync",
			"Reflector.delayHandler", "isWatchErrorRetriable", "Reflector.MaxInternalErrorRetryDuration",
		},
	},
	"04": {
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
	"05": {
		[]string{"controller.go", "the_real_fifo.go", "store.go"},
		[]string{
			"Controller", "controller", "Config", "InformerOptions", "NewInformerWithOptions", "newInformer",
			"newQueueFIFO",
			"controller.RunWithContext", "controller.processLoop",
			"processDeltas", "processDeltasInBatch", "processReplacedAllInfo",
			"Config.Queue", "RealFIFO", "RealFIFO.initialPopulationCount", "RealFIFO.checkSynced_locked",
			"controller.HasSynced", "controller.HasSyncedChecker",
			"MetaNamespaceKeyFunc", "DeletionHandlingMetaNamespaceKeyFunc",
			"Config.WatchErrorHandlerWithContext", "Config.Process", "Config.ProcessBatch", "Config.ShouldResync",
			"RealFIFO.Pop", "RealFIFO.PopBatch",
		},
	},
	"06": {
		[]string{"shared_informer.go", "k8s.io/utils/buffer/ring_growing.go"},
		[]string{
			"addNotification", "updateNotification", "deleteNotification",
			"sharedProcessor", "sharedProcessor.addListener", "sharedProcessor.removeListener",
			"sharedProcessor.distribute", "sharedProcessor.shouldResync",
			"processorListener", "processorListener.addCh", "processorListener.nextCh",
			"processorListener.pendingNotifications", "processorListener.add", "processorListener.pop",
			"processorListener.run", "processorListener.syncTracker", "processorListener.watchSynced",
			"processorListener.ShutdownChan", "processorListener.runFinished",
			"processorListener.shouldResync", "processorListener.nextResync",
			"RingGrowing", "TypedRingGrowing", "TypedRingGrowing.WriteOne", "TypedRingGrowing.ReadOne",
			"initialBufferSize",
			"sharedIndexInformer.blockDeltas",
		},
	},
	"07": {
		[]string{"shared_informer.go", "controller.go", "the_real_fifo.go", "k8s.io/client-go/informers/factory.go"},
		[]string{
			"sharedIndexInformer", "RealFIFO", "controller.processLoop",
			"sharedIndexInformer.handleDeltas", "sharedIndexInformer.handleBatchDeltas",
			"processDeltas", "processDeltasInBatch",
			"sharedIndexInformer.OnAdd", "sharedIndexInformer.OnUpdate", "sharedIndexInformer.OnDelete",
			"sharedIndexInformer.AddEventHandlerWithOptions", "determineResyncPeriod", "dummyController",
			"sharedIndexInformer.indexer", "sharedIndexInformer.controller", "sharedIndexInformer.processor",
			"sharedProcessor", "sharedIndexInformer.cacheMutationDetector", "sharedIndexInformer.listerWatcher",
			"sharedIndexInformer.objectType", "sharedIndexInformer.objectDescription", "sharedIndexInformer.identifier",
			"sharedIndexInformer.informerMetricsProvider", "sharedIndexInformer.defaultEventHandlerResyncPeriod",
			"sharedIndexInformer.resyncCheckPeriod", "sharedIndexInformer.synced", "sharedIndexInformer.startedLock",
			"sharedIndexInformer.started", "sharedIndexInformer.stopped", "sharedIndexInformer.blockDeltas",
			"sharedIndexInformer.watchErrorHandler", "sharedIndexInformer.transform", "sharedIndexInformer.keyFunc",
			"sharedIndexInformer.clock",
			"sharedInformerFactory.WaitForCacheSyncWithContext", "sharedIndexInformer.HasSyncedChecker",
			"processorListener.watchSynced", "processorListener.syncTracker", "processorListener.upstreamHasSynced",
			"sharedIndexInformer.RunWithContext", "controller.HasSyncedChecker", "RealFIFO.synced",
			"RealFIFO.checkSynced_locked", "RealFIFO.populated", "RealFIFO.initialPopulationCount",
		},
	},
	"08": {
		[]string{
			"k8s.io/client-go/informers/factory.go", "k8s.io/client-go/informers/generic.go",
			"k8s.io/client-go/informers/core/interface.go", "k8s.io/client-go/informers/core/v1/interface.go",
			"k8s.io/client-go/informers/core/v1/pod.go",
		},
		[]string{
			"sharedInformerFactory", "sharedInformerFactory.informers", "sharedInformerFactory.startedInformers",
			"sharedInformerFactory.lock", "sharedInformerFactory.wg", "sharedInformerFactory.shuttingDown",
			"sharedInformerFactory.namespace", "sharedInformerFactory.tweakListOptions",
			"sharedInformerFactory.defaultResync", "sharedInformerFactory.customResync",
			"sharedInformerFactory.transform", "sharedInformerFactory.informerName",
			"sharedInformerFactory.InformerFor", "podInformer.defaultInformer", "NewTypedPodInformerWithOptions",
			"sharedInformerFactory.Core", "group.V1", "version.Pods",
			"sharedInformerFactory.ForResource", "genericInformer",
			"sharedInformerFactory.StartWithContext", "sharedInformerFactory.Shutdown",
			"sharedInformerFactory.WaitForCacheSyncWithContext",
		},
	},
}

func TestClientGoHasTheNamesOfTheBridges(t *testing.T) {
	dirs := packageDirs(t)
	text := readFile(t, root(t), "docs/names.md")
	for chapter, bridge := range bridges {
		_, section, _ := strings.Cut(text, "\n## Chapter "+chapter)
		section, _, _ = strings.Cut(section, "\n## ")
		declared := map[string]bool{}
		for _, file := range bridge.files {
			declare(t, declared, filepath.Join(dirs[packageOf(file)], path.Base(file)))
		}
		for _, name := range bridge.names {
			expect.That(t, declared[name], "chapter %s of names.md: client-go has no %s any more", chapter, name)
			if last := name[strings.LastIndex(name, ".")+1:]; !strings.Contains(section, last) {
				t.Errorf("chapter %s of names.md does not mention %s any more", chapter, name)
			}
		}
	}
}

// packageOf is the package of a file of a bridge.
func packageOf(file string) string {
	if !strings.Contains(file, "/") {
		return "k8s.io/client-go/tools/cache"
	}
	return path.Dir(file)
}

// packageDirs are the folders of all packages that bridges lead to.
func packageDirs(t *testing.T) map[string]string {
	t.Helper()
	list := []string{"list", "-f", "{{.ImportPath}} {{.Dir}}"}
	for _, bridge := range bridges {
		for _, file := range bridge.files {
			list = append(list, packageOf(file))
		}
	}
	output, err := exec.CommandContext(t.Context(), "go", list...).Output()
	if err != nil {
		t.Fatal(err)
	}
	dirs := map[string]string{}
	for line := range strings.Lines(string(output)) {
		pkg, dir, _ := strings.Cut(strings.TrimSpace(line), " ")
		dirs[pkg] = dir
	}
	return dirs
}

// declare adds the types, functions, methods (as Type.Method), fields (as
// Type.field), constants and variables that a file declares.
func declare(t *testing.T, names map[string]bool, file string) {
	t.Helper()
	tree := parse(t, os.DirFS(filepath.Dir(file)), filepath.Base(file))
	for _, decl := range tree.Decls {
		for _, name := range book.Names(decl) {
			names[name] = true
		}
	}
	ast.Inspect(tree, func(node ast.Node) bool {
		spec, ok := node.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if fields, ok := spec.Type.(*ast.StructType); ok {
			for _, field := range fields.Fields.List {
				if field.Names == nil { // embedded
					names[spec.Name.Name+"."+types.ExprString(field.Type)] = true
				}
				for _, name := range field.Names {
					names[spec.Name.Name+"."+name.Name] = true
				}
			}
		}
		return true
	})
}
