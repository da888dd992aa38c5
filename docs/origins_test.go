// The old names on the page about the texts that the course comes from.

package main

import (
	"strings"
	"testing"
)

// oldNames are the names that the programs of the five texts declare, or pass as arguments. The
// list is here because the texts are not in the workspace: without it, nothing would notice a row
// that somebody has removed from the page.
const oldNames = `pod Pod newPod NewPod podKeyFunc PodKeyFunc df df.Pop df.List() PodLister podLister
	K8sConfig NewK8sConfig K8sRestConfig kubeConfigFilePath InitClient lib.InitClient InitK8SClient cliset
	InitDynamicClient dynamicCli deployGVR deployTpl myngx InitDiscoveryClient ServerPreferredResources
	ServerGroupsAndResources podLW podLw lwc listWatcher listWarcher watcher rf rf.Run(ch) rsCH nettool mygott store
	ThreadSafeStore threadSafeMap Indices Index LabelsIndexFunc myindex myIdx idxs myIndexer
	WatchDog NewWatchDog wd.Run PodHandler CmdHandler CmdHandler2 processDeltas clientState
	lis newProcessListener bufferSize lis.addCh lis.pop lis.run addNotification updateNotification deleteNotification
	sharedProcessor MySharedInformer NewMySharedInformer msi addEventHandler start
	sharedIndexInformer HandleDeltas processLoop blockDeltas cacheMutationDetector
	shareInformer NewShareInformer NewIndexInformer NewIndexInfomer NewShareIndexInformer mysqltest busy-box
	MyFacotry NewMyFactory PodInformer fact.Start sharedInformerFactory InformerFor startedInformers customResync
	informerFactory cmGVR podGVR ForResource cmInformer`

// oldCalls are the old names with spaces or quotes in them.
var oldCalls = []string{"distribute(obj, sync)", `r.Run(":4000")`}

func TestEveryOldNameIsFound(t *testing.T) {
	_, table, found := strings.Cut(readFile(t, root(t), "docs/reference/origins.md"), "\n## Old names")
	if !found {
		t.Fatal("docs/reference/origins.md has no section Old names")
	}
	table, _, _ = strings.Cut(table, "\n## ")
	for _, name := range append(strings.Fields(oldNames), oldCalls...) {
		if !strings.Contains(table, "`"+name+"`") {
			t.Errorf("the table Old names of docs/reference/origins.md does not have `%s`", name)
		}
	}
}
