package factory

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

const configMaps = "/api/v1/configmaps"

func TestAskingTwiceGivesTheSameInformer(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
	f := New(client, Options{})
	informer := f.ConfigMaps().Informer()
	if f.ConfigMaps().Informer() != informer {
		t.Error("the second ConfigMaps() returns another informer")
	}
	generic, err := f.ForResource(ConfigMaps)
	must.NoError(t, err)
	if generic.Informer() != informer {
		t.Error("ForResource(ConfigMaps) returns another informer than ConfigMaps()")
	}
	if f.Pods().Informer() == informer {
		t.Error("Pods() returns the informer of ConfigMaps")
	}
	f.Forget(Pods)
	start(t, f)
	if server.Lists() != 1 {
		t.Errorf("%d lists, want 1", server.Lists())
	}
	f.Shutdown() // stops the informer, and does not drop it
	if f.ConfigMaps().Informer() != informer {
		t.Error("after Shutdown, ConfigMaps() returns another informer, want the one that has stopped")
	}
	if _, err := f.ForResource(Nodes); err != nil {
		t.Errorf("after Shutdown, ForResource(Nodes) = %v, want an informer, which Start does not start", err)
	}
}

// Two goroutines that ask for a type at the same time must not both make an informer. So the lock
// is held while one is made. If that fails, the next call tries again.
func TestAnInformerIsMadeOnceAndUnderTheLock(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	refused, made := errors.New("not now"), 0
	build := func(shared cache.SharedIndexInformer, err error) func() (cache.SharedIndexInformer, error) {
		return func() (cache.SharedIndexInformer, error) {
			made++
			if f.mu.TryLock() {
				f.mu.Unlock()
				t.Error("mu is not locked while an informer is made")
			}
			return shared, err
		}
	}
	shared := cache.NewSharedIndexInformer(nil, nil, 0, nil)
	for _, test := range []struct {
		name     string
		build    func() (cache.SharedIndexInformer, error)
		want     cache.SharedIndexInformer
		wantErr  error
		wantMade int
	}{
		{name: "refused", build: build(nil, refused), wantErr: refused, wantMade: 1},
		{name: "made", build: build(shared, nil), want: shared, wantMade: 2},
		{name: "there already", build: build(nil, refused), want: shared, wantMade: 2},
	} {
		got, err := f.informerFor(key{resource: Pods}, test.build)
		if got != test.want || !errors.Is(err, test.wantErr) {
			t.Errorf("%s: informerFor() = the informer: %t, %v; want %t, %v",
				test.name, got == shared, err, test.want == shared, test.wantErr)
		}
		if made != test.wantMade {
			t.Errorf("%s: %d informers were made, want %d", test.name, made, test.wantMade)
		}
		if !f.mu.TryLock() {
			t.Fatalf("%s: mu is still locked after informerFor", test.name)
		}
		f.mu.Unlock()
	}
}

// All of them wait for the lock when nothing is there yet. Whoever gets it later finds what the first
// one has made.
func TestGoroutinesThatWaitForTheLockMakeOneInformer(t *testing.T) {
	const rounds, goroutines = 20, 8
	for range rounds {
		f := New(fake.NewClientset(), Options{})
		var made atomic.Int32
		var asking sync.WaitGroup
		f.mu.Lock()
		for range goroutines {
			asking.Go(func() {
				f.informerFor(key{resource: Pods}, func() (cache.SharedIndexInformer, error) {
					made.Add(1)
					return cache.NewSharedIndexInformer(nil, nil, 0, nil), nil
				})
			})
		}
		for range 100 * goroutines {
			runtime.Gosched() // most of them come to the lock
		}
		// A goroutine that the mutex has woken can find it locked again, by the one that has just
		// unlocked it. Only if the woken one has waited for more than a millisecond does the mutex
		// serve all in turn: then each of them looks, before the first one has the lock a second
		// time. There is no condition to wait for: a mutex does not say who waits, and how long.
		time.Sleep(2 * time.Millisecond)
		f.mu.Unlock()
		f.mu.Lock()
		time.Sleep(2 * time.Millisecond)
		f.mu.Unlock()
		asking.Wait()
		if made.Load() != 1 {
			t.Fatalf("%d goroutines that waited for mu have made %d informers, want 1: nobody would start the others",
				goroutines, made.Load())
		}
	}
}

// The function that makes an informer may be the user's. If it panics, and a caller recovers, the
// factory still works.
func TestAPanicWhileAnInformerIsMadeLeavesNothing(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	func() {
		defer func() {
			if p := recover(); p != "not now" {
				t.Errorf("recovered %v, want the panic of the function", p)
			}
		}()
		_, err := f.informerFor(key{resource: Pods}, func() (cache.SharedIndexInformer, error) { panic("not now") })
		t.Errorf("informerFor() returned, with the error %v, want a panic", err)
	}()
	if !f.mu.TryLock() {
		t.Fatal("mu is still locked after a panic")
	}
	f.mu.Unlock()
	if len(f.entries) != 0 {
		t.Errorf("%d entries after a panic, want none", len(f.entries))
	}
}

func TestAskingFromManyGoroutinesGivesTheSameInformer(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
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
	must.NoError(t, f.WaitForCacheSync(t.Context()))
	if different := slices.Compact(informers); len(different) != 1 {
		t.Errorf("%d goroutines got %d different informers, want 1", len(informers), len(different))
	}
	if server.Lists() != 1 {
		t.Errorf("%d lists, want 1", server.Lists())
	}
}

func TestStartingAgainStartsOnlyWhatIsNew(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{
		configMaps:      configMapsNamed("a"),
		"/api/v1/nodes": configMapsNamed(),
	})
	f := New(client, Options{})
	f.ConfigMaps()
	start(t, f)
	server.Reset()

	nodes := f.Nodes().Informer()
	must.NoError(t, f.WaitForCacheSync(t.Context())) // it does not wait for an informer that was not started
	if nodes.HasSynced() {
		t.Error("the informer of nodes has synced before Start")
	}
	if server.Lists() != 0 {
		t.Errorf("%d lists before Start, want 0", server.Lists())
	}
	for range 3 {
		f.Start(t.Context())
	}
	must.NoError(t, f.WaitForCacheSync(t.Context()))
	if !nodes.HasSynced() {
		t.Error("the informer of nodes has not synced after Start and WaitForCacheSync")
	}
	if server.Lists() != 1 {
		t.Errorf("%d lists after three calls of Start, want 1", server.Lists())
	}
}

func TestWaitForCacheSyncNamesWhatHasNotSynced(t *testing.T) {
	_, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
	f := New(client, Options{})
	defer f.Shutdown()
	served := f.ConfigMaps().Informer()
	f.Pods()
	f.Deployments()
	f.Start(t.Context())
	must.Until(t, "the informer of ConfigMaps has synced", served.HasSynced)
	cause := errors.New("no more patience")
	ctx, cancel := context.WithTimeoutCause(t.Context(), 50*time.Millisecond, cause)
	defer cancel()
	err := f.WaitForCacheSync(ctx)
	want := "waiting for the first list of deployments.v1.apps, pods (are they served, and may you list and watch " +
		"them?): no more patience"
	if err == nil || err.Error() != want {
		t.Errorf("WaitForCacheSync() = %v\nwant %s", err, want)
	}
	if !errors.Is(err, cause) {
		t.Errorf("WaitForCacheSync() = %v, which does not wrap the cause of the context, %v", err, cause)
	}
}

func TestShutdownLeavesNoGoroutineAndIsForGood(t *testing.T) {
	_, client, _ := newServer(t, map[string]iter.Seq[any]{
		configMaps:      configMapsNamed("a"),
		"/api/v1/nodes": configMapsNamed(),
	})
	before := must.Goroutines()
	f := New(client, Options{})
	called := make(chan struct{})
	_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		close(called)
	}})
	must.NoError(t, err)
	f.Start(t.Context()) // this context does not end before the test
	must.NoError(t, f.WaitForCacheSync(t.Context()))
	<-called
	f.Shutdown()
	must.NoNewGoroutines(t, before, "net/http.") // nobody can wait for those of a connection
	nodes := f.Nodes().Informer()
	f.Start(t.Context())
	if nodes.HasSynced() {
		t.Error("an informer has synced that was started after Shutdown")
	}
	if f.entries[key{resource: Nodes}].ctx != nil {
		t.Error("Start has started an informer after Shutdown")
	}
	f.Shutdown()
	if !nodes.IsStopped() {
		t.Error("IsStopped() = false after the second Shutdown: the program could run the informer")
	}
}

func TestAClientsetThatCannotIsNamed(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	for _, resource := range []schema.GroupVersionResource{
		{Group: "authentication.k8s.io", Version: "v1", Resource: "tokenreviews"}, // can only be created
		{Group: "autoscaling", Version: "v1", Resource: "scales"},                 // a subresource
	} {
		_, err := f.ForResource(resource)
		want := "an informer of " + name(resource) + ": the clientset cannot list and watch them"
		if err == nil || err.Error() != want {
			t.Errorf("ForResource(%s) = %v, want the error %q", name(resource), err, want)
		}
	}
}
