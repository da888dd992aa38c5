// The cost of an informer for each type.

package main

import (
	"runtime/pprof"
	"testing"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/session/sessiontest"
	"example.com/informer/scripts/harness/usage"
)

// Each informer costs one list, fewer than ten goroutines, and less than a megabyte.
func TestAnInformerForEachTypeCostsLittle(t *testing.T) {
	s := sessiontest.Open(t)
	var asked fault.Requests
	config := rest.CopyConfig(s.Config)
	config.WarningHandler = rest.NoWarnings{} // the server warns of deprecated types
	config.Wrap(asked.Wrap)
	client, err := kubernetes.NewForConfig(config)
	must.NoError(t, err)
	lists, err := client.Discovery().ServerPreferredResources()
	if err != nil && !discovery.IsGroupDiscoveryFailedError(err) {
		t.Fatal(err)
	}
	watched := discovery.FilteredBy(discovery.SupportsAllVerbs{Verbs: []string{"list", "watch"}}, lists)
	resources, err := discovery.GroupVersionResources(watched)
	must.NoError(t, err)

	f := factory.New(client, factory.Options{})
	defer f.Shutdown()
	n := 0
	for resource := range resources {
		if _, err := f.ForResource(resource); err == nil { // an error means that client-go has no type for it
			n++
		}
	}
	asked.Reset()
	before := usage.Heap()
	pprof.Do(t.Context(), pprof.Labels("test", t.Name()), f.Start) // goroutines inherit the label
	must.NoError(t, f.WaitForCacheSync(t.Context()))
	if n < 40 {
		t.Errorf("%d informers, want at least 40: the test does not find the types", n)
	}
	if asked.Lists() != n {
		t.Errorf("%d lists for %d informers, want one for each", asked.Lists(), n)
	}
	if goroutines := usage.Goroutines("test", t.Name()); goroutines >= 10*n {
		t.Errorf("%d goroutines for %d informers, want fewer than ten for each", goroutines, n)
	}
	if heap := usage.Heap() - before; heap >= n<<20 {
		t.Errorf("%d bytes for %d informers, want less than a megabyte for each", heap, n)
	}
}
