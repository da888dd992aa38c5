// Informers that end while others wait for that, ask again, or end them too.

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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/must"
)

// noPods is a client of one ConfigMap, a, that may not list pods.
func noPods() *fake.Clientset {
	client := fake.NewClientset(&corev1.ConfigMap{ObjectMeta: configMap("a").ObjectMeta})
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("not you")
	})
	return client
}

// busy starts the factory with a handler of ConfigMaps that is called for a, and
// returns when the channel is closed.
func busy(t *testing.T, f *Factory) (release chan struct{}) {
	t.Helper()
	release = make(chan struct{})
	_, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		<-release
	}})
	must.Do(t, err)
	f.Start(t.Context())
	synctest.Wait()
	return release
}

// A call is one that goes on while the test does.
type call chan struct{}

func goOn(fn func()) call {
	c := make(call)
	go func() { defer close(c); fn() }()
	return c
}

// returned says whether it has, when all there was to do is done.
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
		f := New(noPods(), Options{})
		release := busy(t, f)
		forget := func() { f.Forget(ConfigMaps) }
		calls := []call{goOn(forget), goOn(forget)}
		synctest.Wait()
		f.ConfigMaps() // a fresh one, that has not started
		calls = append(calls, goOn(forget))
		for i, c := range calls {
			expect.That(t, !c.returned(), "call %d of Forget has returned while the handler was busy", i+1)
		}
		close(release)
		for i, c := range calls {
			expect.That(t, c.returned(), "call %d of Forget has not returned", i+1)
		}
	})
}

// Of two forgotten ones, the first ends last.
func TestForgetWaitsForAllThatWereForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(noPods(), Options{})
		forget := func() { f.Forget(ConfigMaps) }
		releaseFirst := busy(t, f)
		first := goOn(forget)
		synctest.Wait()
		releaseSecond := busy(t, f)
		second := goOn(forget)
		synctest.Wait()
		close(releaseSecond)
		last := goOn(forget)
		expect.That(t, !first.returned() && !second.returned() && !last.returned(),
			"Forget has returned while the first one's handler was busy")
		close(releaseFirst)
		<-first
		<-second
		<-last
	})
}

// The one that was forgotten is not in the way of the next.
func TestAskingAgainWhileTheOldOneEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(noPods(), Options{})
		defer f.Shutdown()
		release := busy(t, f)
		old := f.ConfigMaps().Informer()
		forgotten := goOn(func() { f.Forget(ConfigMaps) })
		synctest.Wait()

		fresh := f.ConfigMaps().Informer()
		added := make(chan string, 1)
		_, err := fresh.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { added <- obj.(*corev1.ConfigMap).Name },
		})
		must.Do(t, err)
		start(t, f)
		name := <-added
		expect.That(t, name == "a" && fresh != old, "OnAdd of %q, by the old one: %t", name, fresh == old)
		close(release)
		expect.That(t, forgotten.returned() && !fresh.IsStopped(),
			"forgotten: %t, and the fresh one has stopped: %t", forgotten.returned(), fresh.IsStopped())
	})
}

func TestAForgottenInformerTakesNoHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(noPods(), Options{})
		release := busy(t, f)
		old := f.ConfigMaps().Informer()
		forgotten := goOn(func() { f.Forget(ConfigMaps) })
		for _, when := range []string{"while it ends", "afterwards"} {
			synctest.Wait()
			_, err := old.AddEventHandler(cache.ResourceEventHandlerFuncs{})
			if err == nil || !strings.Contains(err.Error(),
				"make a new informer of configmaps: handler cache.ResourceEventHandlerFuncs was not added") {
				t.Errorf("%s: got %v", when, err)
			}
			if when == "while it ends" {
				close(release)
			}
		}
		<-forgotten
	})
}

// It never asks the server, ends its handlers, and takes no more of them.
func TestAnInformerThatIsForgottenBeforeTheStartHasStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := noPods()
		f := New(client, Options{})
		defer f.Shutdown()
		old := f.ConfigMaps().Informer()
		handler := cache.ResourceEventHandlerFuncs{AddFunc: func(any) { t.Error("its handler is called") }}
		early, err := old.AddEventHandler(handler)
		must.Do(t, err)
		f.Forget(ConfigMaps)
		if _, err := old.AddEventHandler(handler); !old.IsStopped() || err == nil {
			t.Errorf("IsStopped() = %t, AddEventHandler() = %v; want true, an error", old.IsStopped(), err)
		}
		must.Do(t, cache.ShutDownEventHandler(old, early))
		asked := client.Actions()
		expect.That(t, len(asked) == 0, "the server was asked: %v", asked)
		f.ConfigMaps()
		start(t, f)
		synctest.Wait()
		expect.That(t, !old.HasSynced(), "it has synced")
	})
}

func TestShutdownAndForgetWaitForTheSameHandler(t *testing.T) {
	for _, test := range []struct {
		name  string
		order []func(*Factory)
	}{
		{"Forget first", []func(*Factory){func(f *Factory) { f.Forget(ConfigMaps) }, (*Factory).Shutdown}},
		{"Shutdown first", []func(*Factory){(*Factory).Shutdown, func(f *Factory) { f.Forget(ConfigMaps) }}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := New(noPods(), Options{})
				release := busy(t, f)
				var calls []call
				for _, fn := range test.order {
					calls = append(calls, goOn(func() { fn(f) }))
					synctest.Wait()
				}
				expect.That(t, !calls[0].returned() && !calls[1].returned(),
					"one has returned while the handler was busy")
				fresh := f.ConfigMaps().Informer()
				f.Start(t.Context())
				close(release)
				<-calls[0]
				<-calls[1]
				expect.That(t, !fresh.HasSynced() && !fresh.IsStopped(),
					"what was asked for after Shutdown was started")
			})
		})
	}
}

// All that can be done at the same time, for the race detector to look at.
func TestEverythingAtOnce(t *testing.T) {
	f := New(noPods(), Options{})
	resources := []schema.GroupVersionResource{ConfigMaps, Pods, Nodes}
	var working sync.WaitGroup
	for range 4 {
		for _, resource := range resources {
			working.Go(func() {
				for range 20 {
					asked, err := f.ForResource(resource)
					if err != nil {
						t.Error(err)
						return
					}
					// refused if it has ended
					_, _ = asked.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{})
					working.Go(func() { asked.Informer().RunWithContext(t.Context()) }) // or the factory does
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
	lister := f.ConfigMaps().Lister() // a fresh one, of that confusion
	f.Start(t.Context())
	must.Until(t, "a is cached", func() bool { _, err := lister.ConfigMaps("ns").Get("a"); return err == nil })
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
