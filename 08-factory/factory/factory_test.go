package factory

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

const configMaps = "/api/v1/configmaps"

func TestAskingTwiceGivesTheSameInformer(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{})
	informer := f.ConfigMaps().Informer()
	generic, err := f.ForResource(ConfigMaps)
	must.Do(t, err)
	expect.That(t, f.ConfigMaps().Informer() == informer && generic.Informer() == informer,
		"there is more than one informer of config maps")
	expect.That(t, f.Pods().Informer() != informer, "pods and config maps have one informer")
	f.Forget(Pods)
	start(t, f)
	expect.That(t, server.Lists() == 1, "%d lists, want 1", server.Lists())
}

func TestAskingFromManyGoroutinesGivesTheSameInformer(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{})
	defer f.Shutdown()
	informers := make([]cache.SharedIndexInformer, 100)
	var asking sync.WaitGroup
	for i := range informers {
		asking.Go(func() {
			informers[i] = f.ConfigMaps().Informer()
			f.Start(t.Context())
		})
	}
	asking.Wait()
	must.Do(t, f.WaitForCacheSync(t.Context()))
	if informers = slices.Compact(informers); len(informers) != 1 {
		t.Errorf("%d informers, want 1", len(informers))
	}
	expect.That(t, server.Lists() == 1, "%d lists, want 1", server.Lists())
}

func TestStartingAgainStartsOnlyWhatIsNew(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a"), "/api/v1/nodes": these()})
	f := New(client, Options{})
	f.ConfigMaps()
	start(t, f)
	server.Reset()

	nodes := f.Nodes().Informer()
	must.Do(t, f.WaitForCacheSync(t.Context())) // what does not run is not waited for
	expect.That(t, !nodes.HasSynced() && server.Lists() == 0, "it runs, and was not started")
	for range 3 {
		f.Start(t.Context())
	}
	must.Do(t, f.WaitForCacheSync(t.Context()))
	expect.That(t, nodes.HasSynced() && server.Lists() == 1,
		"synced: %t, lists: %d; want one", nodes.HasSynced(), server.Lists())
}

func TestWaitForCacheSyncNamesWhatHasNotSynced(t *testing.T) {
	_, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a")})
	f := New(client, Options{})
	defer f.Shutdown()
	served := f.ConfigMaps().Informer()
	f.Pods()
	f.Deployments()
	f.Start(t.Context())
	must.Until(t, "it has synced", served.HasSynced)
	tired := errors.New("no more patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, tired)
	defer cancel()
	err := f.WaitForCacheSync(ctx)
	want := "waiting for the first list of deployments.v1.apps, pods (are they served, and may you list and watch " +
		"them?): no more patience"
	expect.That(t, errors.Is(err, tired) && err.Error() == want, "got  %v\nwant %s", err, want)
}

func TestShutdownLeavesNoGoroutineAndIsForGood(t *testing.T) {
	_, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: these("a"), "/api/v1/nodes": these()})
	before := goleak.IgnoreCurrent()
	f := New(client, Options{})
	called := make(chan struct{})
	_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		close(called)
	}})
	must.Do(t, err)
	f.Start(t.Context()) // which does not end
	must.Do(t, f.WaitForCacheSync(t.Context()))
	<-called
	f.Shutdown()
	wantNoMore(t, before)
	nodes := f.Nodes().Informer()
	f.Start(t.Context())
	expect.That(t, !nodes.HasSynced() && f.entries[key{resource: Nodes}].ctx == nil, "it was started after the end")
	f.Shutdown() // again
	expect.That(t, nodes.IsStopped(), "the program could run it")
}

func TestAClientsetThatCannotIsNamed(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	for _, resource := range []schema.GroupVersionResource{
		{Group: "authentication.k8s.io", Version: "v1", Resource: "tokenreviews"}, // a question, no list
		{Group: "autoscaling", Version: "v1", Resource: "scales"},                 // part of other resources
	} {
		_, err := f.ForResource(resource)
		if err == nil || !strings.Contains(err.Error(),
			"an informer of "+name(resource)+": the clientset cannot list and watch them") {
			t.Errorf("%s: got %v", name(resource), err)
		}
	}
}
