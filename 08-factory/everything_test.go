// What an informer for each type costs.

package main

import (
	"runtime/pprof"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/requests"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/usage"
)

// One list, fewer than ten goroutines and less than a megabyte for each.
func TestAnInformerForEachTypeCostsLittle(t *testing.T) {
	s := sessiontest.Open(t)
	var asked requests.Counter
	config := rest.CopyConfig(s.Config)
	config.WarningHandler = rest.NoWarnings{} // some types should not be used any more
	asked.Count(config)
	client, err := kubernetes.NewForConfig(config)
	must.Do(t, err)
	lists, err := client.Discovery().ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		t.Fatal(err)
	}
	watched := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists)
	resources, err := discovery.GroupVersionResources(watched)
	must.Do(t, err)

	f := factory.New(client, factory.Options{})
	defer f.Shutdown()
	n := 0
	for resource := range resources {
		if _, err := f.ForResource(resource); err == nil { // else client-go has no type for it
			n++
		}
	}
	asked.Reset()
	before := usage.Heap()
	pprof.Do(t.Context(), pprof.Labels("test", t.Name()), f.Start) // goroutines inherit the label
	must.Do(t, f.WaitForCacheSync(t.Context()))
	expect.That(t, n >= 40 && asked.Lists() == n,
		"%d lists for %d informers, want one for each of more than 40", asked.Lists(), n)
	goroutines := usage.Goroutines("test", t.Name())
	expect.That(t, goroutines < 10*n, "%d goroutines for %d informers", goroutines, n)
	heap := usage.Heap() - before
	expect.That(t, heap < n<<20, "%d bytes for %d informers", heap, n)
}
