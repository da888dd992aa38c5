// What the page says about client-go's informers and their indexes, and about its
// mutation detector. What ends its program is tested in a process of its own.

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
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

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
	_, ok := informer.GetIndexer().GetIndexers()[indexer.Namespace]
	expect.That(t, ok, "it has none")
	has := newFakeInformer(cache.Indexers{}).GetIndexer().GetIndexers()
	expect.That(t, len(has) == 0, "an informer of one's own has %d indexes, want none", len(has))
}

func TestAFailingIndexFunctionEndsTheProgram(t *testing.T) {
	const inside = "INDEX_FUNCTION_FAILS"
	if os.Getenv(inside) != "" {
		strict := func(any) ([]string, error) { return nil, errors.New("no colour") }
		newFakeInformer(cache.Indexers{"strict": strict}).RunWithContext(t.Context())
		return
	}
	said, err := must.RunAgain(t, t.Name(), inside+"=1")
	if err == nil || err.Error() != "exit status 2" || !strings.Contains(said,
		`unable to calculate an index entry for key "ns1/pod1" on index "strict": no colour`) {
		t.Errorf("it ended with %v, want status 2 and the store's panic; it said:\n%s", err, said)
	}
}

// The detector compares each object with its copy for two to four minutes after
// it has got it. It can only be switched on from outside.
func TestTheMutationDetectorRemembersAnObjectForMinutes(t *testing.T) {
	const when = "CHANGE_WHEN"
	if change := os.Getenv(when); change != "" {
		addAfter, changeAfter, _ := strings.Cut(change, " ")
		added, err := time.ParseDuration(addAfter)
		must.Do(t, err)
		changed, err := time.ParseDuration(changeAfter)
		must.Do(t, err)
		synctest.Test(t, func(t *testing.T) { changeLater(t, added, changed) })
		return
	}
	for change, found := range map[string]bool{
		"0s 4m":         true,
		"0s 4m10s":      false,
		"119500ms 110s": true, // just before the detector puts its list aside
		"119500ms 130s": false,
	} {
		said, err := must.RunAgain(t, t.Name(), "KUBE_CACHE_MUTATION_DETECTOR=true", when+"="+change)
		if got := strings.Contains(said, "panic: cache pods modified"); got != found || got != (err != nil) {
			t.Errorf("%s: found: %t, want %t; it ended with %v and said:\n%s", change, got, found, err, said)
		}
	}
}

// changeLater gives the detector a pod, and changes the pod some time after that.
func changeLater(t *testing.T, added, changed time.Duration) {
	t.Helper()
	detector, stop := cache.NewCacheMutationDetector("pods"), make(chan struct{})
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
