// What the page says about client-go's informers and their indexes. Programs
// that are meant to end badly are started as a process of their own.

package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// child is set in the environment of a process that is to run one of children.
const child = "RUN_CHILD"

var children = map[string]func(){
	"change": func() {
		informer := newFakeInformer(cache.Indexers{})
		mustAlso(informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { obj.(*corev1.Pod).Labels["app"] = "mine" },
		}))
		informer.RunWithContext(context.Background())
	},
	"index": func() {
		informer := newFakeInformer(cache.Indexers{"strict": func(any) ([]string, error) {
			return nil, errors.New("no colour")
		}})
		informer.RunWithContext(context.Background())
	},
}

func mustAlso(_ any, err error) {
	if err != nil {
		panic(err)
	}
}

// runChild runs a child to its end and returns its exit code and all it said.
func runChild(t *testing.T, name string, env ...string) (code int, said string) {
	t.Helper()
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), child+"="+name), env...)
	output, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(output)
}

// newFakeInformer returns an informer of a server that has ns1/pod1.
func newFakeInformer(indexers cache.Indexers) cache.SharedIndexInformer {
	server := fakeapi.New(newPod("ns1", "pod1", "l1"))
	return cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{},
		cache.SharedIndexInformerOptions{Indexers: indexers})
}

func TestAFactorysInformersHaveANamespaceIndex(t *testing.T) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	must.Do(t, err)
	informer := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	if _, ok := informer.GetIndexer().GetIndexers()[indexer.Namespace]; !ok {
		t.Error("it has none")
	}
	if has := newFakeInformer(cache.Indexers{}).GetIndexer().GetIndexers(); len(has) != 0 {
		t.Errorf("an informer of one's own has %d indexes, want none", len(has))
	}
}

func TestIndexersMayBeAddedToAnInformerThatRuns(t *testing.T) {
	informer := newFakeInformer(cache.Indexers{})
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { informer.RunWithContext(ctx) })
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		t.Fatal("no sync")
	}
	must.Do(t, informer.AddIndexers(cache.Indexers{"app": indexer.ByLabel("app")}))
	wantKeys(t, informer.GetIndexer(), "app", "l1", "ns1/pod1")

	cancel()
	running.Wait()
	if err := informer.AddIndexers(cache.Indexers{"late": indexer.ByImage}); err == nil {
		t.Error("an informer that has ended took another index")
	}
}

func TestAddIndexersPanicsIfThereWasNoMapToAddTo(t *testing.T) {
	byApp := cache.Indexers{"app": indexer.ByLabel("app")}
	if !panics(func() { _ = newFakeInformer(nil).AddIndexers(byApp) }) {
		t.Error("an informer made with Indexers nil took an index")
	}
	if panics(func() { must.Do(t, newFakeInformer(cache.Indexers{}).AddIndexers(byApp)) }) {
		t.Error("an informer made with an empty map did not")
	}
}

func TestASharedInformerEndsTheProgramThatChangesItsObjects(t *testing.T) {
	code, said := runChild(t, "change", "KUBE_CACHE_MUTATION_DETECTOR=true")
	if code != 2 || !strings.Contains(said, "panic: cache *v1.Pod modified") {
		t.Errorf("exit code %d, want 2 and the detector's panic; it said:\n%s", code, said)
	}
}

func TestAFailingIndexFunctionEndsTheProgram(t *testing.T) {
	code, said := runChild(t, "index")
	if code != 2 || !strings.Contains(said,
		`unable to calculate an index entry for key "ns1/pod1" on index "strict": no colour`) {
		t.Errorf("exit code %d, want 2 and the store's panic; it said:\n%s", code, said)
	}
}
