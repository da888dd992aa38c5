// Informers that end while other goroutines wait for the end, ask for the type again, or end them
// too.

package factory

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/must"
)

// newClientWithoutPods returns a client that has one ConfigMap, a. It may not list pods.
func newClientWithoutPods() *fake.Clientset {
	client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta})
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("not you")
	})
	return client
}

// startBlocked starts the factory with a handler of ConfigMaps, and returns when the handler is
// called for the ConfigMap a. The handler returns when the test closes the channel.
func startBlocked(t *testing.T, f *Factory) (release chan struct{}) {
	t.Helper()
	release = make(chan struct{})
	_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		<-release
	}})
	must.NoError(t, err)
	f.Start(t.Context())
	synctest.Wait()
	return release
}

// A call is a function call in another goroutine. The channel is closed when the function has
// returned.
type call chan struct{}

// startCall calls a function in another goroutine.
func startCall(fn func()) call {
	c := make(call)
	go func() {
		defer close(c)
		fn()
	}()
	return c
}

// returned waits until all goroutines of the synctest bubble are blocked. Then it reports whether the
// function has returned.
func (c call) returned() bool {
	synctest.Wait()
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func TestASecondForgetWaitsToo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(newClientWithoutPods(), Options{})
		release := startBlocked(t, f)
		forget := func() { f.Forget(ConfigMaps) }
		calls := []call{startCall(forget), startCall(forget)}
		synctest.Wait()
		f.ConfigMaps() // a new informer, which has not started
		calls = append(calls, startCall(forget))
		for i, c := range calls {
			if c.returned() {
				t.Errorf("call %d of Forget has returned while the handler was blocked", i+1)
			}
		}
		close(release)
		for i, c := range calls {
			if !c.returned() {
				t.Errorf("call %d of Forget has not returned after the handler", i+1)
			}
		}
	})
}

// Two informers of a type are forgotten. The handler of the first one returns last, or that of the
// second one.
func TestForgetWaitsForAllThatWereForgotten(t *testing.T) {
	for _, test := range []struct {
		name         string
		early, late  int   // the handler that returns early, and the other one
		wantReturned []int // the calls of Forget that return between the two
	}{
		{name: "the first one returns last", early: 2, late: 1},
		{name: "the second one returns last", early: 1, late: 2, wantReturned: []int{1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(newClientWithoutPods(), Options{})
				forget := func() { f.Forget(ConfigMaps) }
				release, calls := map[int]chan struct{}{}, map[int]call{}
				for n := 1; n <= 2; n++ {
					release[n] = startBlocked(t, f)
					informer := f.ConfigMaps().Informer()
					calls[n] = startCall(forget)
					synctest.Wait()
					if !informer.IsStopped() {
						t.Errorf("informer %d runs on after Forget", n)
					}
				}
				close(release[test.early])
				synctest.Wait()
				calls[3] = startCall(forget)
				for n := 1; n <= 3; n++ {
					if got, want := calls[n].returned(), slices.Contains(test.wantReturned, n); got != want {
						t.Errorf("call %d of Forget has returned: %t, while handler %d was blocked; want %t",
							n, got, test.late, want)
					}
				}
				close(release[test.late])
				for n := 1; n <= 3; n++ {
					<-calls[n]
				}
			})
		})
	}
}

// A new informer of a type works while the forgotten one still waits for its handler.
func TestAskingAgainWhileTheOldOneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(newClientWithoutPods(), Options{})
		defer f.Shutdown()
		release := startBlocked(t, f)
		old := f.ConfigMaps().Informer()
		forgotten := startCall(func() { f.Forget(ConfigMaps) })
		synctest.Wait()

		fresh := f.ConfigMaps().Informer()
		added := make(chan string, 1)
		_, err := fresh.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { added <- obj.(*corev1.ConfigMap).Name },
		})
		must.NoError(t, err)
		start(t, f)
		if name := <-added; name != "a" {
			t.Errorf("OnAdd of %q, want a", name)
		}
		if fresh == old {
			t.Error("ConfigMaps returns the forgotten informer, want a new one")
		}
		close(release)
		if !forgotten.returned() {
			t.Error("Forget has not returned after the handler")
		}
		if fresh.IsStopped() {
			t.Error("the new informer has stopped with the forgotten one")
		}
	})
}

func TestAForgottenInformerTakesNoHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(newClientWithoutPods(), Options{})
		release := startBlocked(t, f)
		old := f.ConfigMaps().Informer()
		forgotten := startCall(func() { f.Forget(ConfigMaps) })
		wantRefused := func(when string) {
			t.Helper()
			synctest.Wait()
			_, err := old.AddEventHandler(cache.ResourceEventHandlerFuncs{})
			want := "make a new informer of configmaps: handler cache.ResourceEventHandlerFuncs was not added"
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("AddEventHandler %s = %v, want an error with %q", when, err, want)
			}
		}
		wantRefused("while the informer ends")
		close(release)
		wantRefused("after the end")
		<-forgotten
	})
}

// Such an informer never asks the server. It ends its handlers, and takes no more of them.
func TestAnInformerThatIsForgottenBeforeTheStartHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := newClientWithoutPods()
		f := New(client, Options{})
		defer f.Shutdown()
		old := f.ConfigMaps().Informer()
		handler := cache.ResourceEventHandlerFuncs{
			AddFunc: func(any) { t.Error("the handler of the forgotten informer was called") },
		}
		early, err := old.AddEventHandler(handler)
		must.NoError(t, err)
		f.Forget(ConfigMaps)
		if !old.IsStopped() {
			t.Error("IsStopped() = false after Forget, want true")
		}
		if _, err := old.AddEventHandler(handler); err == nil {
			t.Error("AddEventHandler() = nil after Forget, want an error")
		}
		must.NoError(t, cache.ShutDownEventHandler(old, early))
		if requests := client.Actions(); len(requests) != 0 {
			t.Errorf("the forgotten informer has sent the requests %v, want none", requests)
		}
		f.ConfigMaps()
		start(t, f)
		synctest.Wait()
		if old.HasSynced() {
			t.Error("the forgotten informer has synced: Start has started it")
		}
	})
}

// Many goroutines call all methods at the same time. The race detector looks for races.
func TestEverythingAtOnce(t *testing.T) {
	f := New(newClientWithoutPods(), Options{})
	resources := []schema.GroupVersionResource{ConfigMaps, Pods, Nodes}
	var working sync.WaitGroup
	for range 4 {
		for _, resource := range resources {
			working.Go(func() {
				for range 20 {
					generic, err := f.ForResource(resource)
					if err != nil {
						t.Error(err)
						return
					}
					// An error is fine: another goroutine may have forgotten the informer by now.
					_, _ = generic.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{})
					working.Go(func() { generic.Informer().RunWithContext(t.Context()) }) // or Start runs it first
					f.Start(t.Context())
					f.Forget(resource)
				}
			})
		}
		working.Go(func() {
			for range 20 {
				_ = f.WaitForCacheSync(t.Context())
				f.ClientGo().WaitForCacheSyncWithContext(t.Context())
			}
		})
	}
	working.Wait()
	lister := f.ConfigMaps().Lister() // after all this, a new informer still works
	f.Start(t.Context())
	must.Until(t, "a is cached", func() bool {
		_, err := lister.ConfigMaps("ns").Get("a")
		return err == nil
	})
	for _, resource := range slices.Repeat(resources, 4) {
		working.Go(func() {
			_, _ = f.ForResource(resource)
			f.Start(t.Context())
			f.Shutdown()
			f.Forget(resource)
		})
		working.Go(func() { _ = f.WaitForCacheSync(t.Context()) })
	}
	working.Wait()
	f.Shutdown()
}
