// Claims of the book about the indexes of client-go's informers, and about its mutation detector.
// Some of these tests start a process of their own, because it panics.

package main

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/04-indexer/indexer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// newFakeInformer returns an informer of a fake server that has the pod ns1/pod1.
func newFakeInformer(indexers cache.Indexers) cache.SharedIndexInformer {
	server := fakeapi.New(newPod("ns1", "pod1", "l1"))
	return cache.NewSharedIndexInformerWithOptions(server, &corev1.Pod{},
		cache.SharedIndexInformerOptions{Indexers: indexers})
}

func TestAFactorysInformersHaveANamespaceIndex(t *testing.T) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1"})
	must.NoError(t, err)
	informer := informers.NewSharedInformerFactory(client, 0).Core().V1().Pods().Informer()
	indexers := informer.GetIndexer().GetIndexers()
	if _, ok := indexers[indexer.Namespace]; !ok {
		t.Errorf("an informer of a factory has no index %s; its indexers: %v", indexer.Namespace, indexers)
	}
	indexers = newFakeInformer(cache.Indexers{}).GetIndexer().GetIndexers()
	if len(indexers) != 0 {
		t.Errorf("an informer without a factory has %d indexes, want 0", len(indexers))
	}
}

func TestAFailingIndexFunctionEndsTheProgram(t *testing.T) {
	const inside = "INDEX_FUNCTION_FAILS"
	if os.Getenv(inside) != "" {
		strict := func(any) ([]string, error) { return nil, errors.New("no colour") }
		newFakeInformer(cache.Indexers{"strict": strict}).RunWithContext(t.Context())
		return
	}
	output, err := must.RunInSubprocess(t, t.Name(), inside+"=1")
	if err == nil || err.Error() != "exit status 2" {
		t.Errorf("the process ended with %v, want exit status 2", err)
	}
	const want = `unable to calculate an index entry for key "ns1/pod1" on index "strict": no colour`
	if !strings.Contains(output, want) {
		t.Errorf("the output of the process does not contain %q:\n%s", want, output)
	}
}

// The detector compares each object with its copy, for two to four minutes after it got the object.
// Only the environment can switch it on.
func TestTheMutationDetectorRemembersAnObjectForMinutes(t *testing.T) {
	const when = "CHANGE_WHEN"
	if change := os.Getenv(when); change != "" {
		addAfter, changeAfter, _ := strings.Cut(change, " ")
		added, err := time.ParseDuration(addAfter)
		must.NoError(t, err)
		changed, err := time.ParseDuration(changeAfter)
		must.NoError(t, err)
		synctest.Test(t, func(t *testing.T) { changeLater(t, added, changed) })
		return
	}
	for change, want := range map[string]bool{ // whether the detector finds the change
		"0s 4m":         true,
		"0s 4m10s":      false,
		"119500ms 110s": true, // added just before the detector starts a new list of objects
		"119500ms 130s": false,
	} {
		output, err := must.RunInSubprocess(t, t.Name(), "KUBE_CACHE_MUTATION_DETECTOR=true", when+"="+change)
		got := strings.Contains(output, "panic: cache pods modified")
		if got != want {
			t.Errorf("%s: the detector found the change: %t, want %t; the output:\n%s", change, got, want, output)
		}
		if failed := err != nil; failed != want {
			t.Errorf("%s: the process ended with %v; want an error: %t", change, err, want)
		}
	}
}

// changeLater gives the detector a pod after some time, and changes the pod some time after that.
func changeLater(t *testing.T, added, changed time.Duration) {
	t.Helper()
	detector := cache.NewCacheMutationDetector("pods")
	stop := make(chan struct{})
	go detector.Run(stop)
	time.Sleep(added)
	pod := newPod("ns1", "pod1", "l1")
	detector.AddObject(pod)
	time.Sleep(changed)
	synctest.Wait() // for the detector, which may be looking at the pod
	pod.Labels["app"] = "l2"
	time.Sleep(2 * time.Second) // it looks once a second
	close(stop)
}
