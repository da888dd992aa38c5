package factory

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"testing/synctest"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/usage"
)

// serverOfMany returns a server that lists n ConfigMaps of a kilobyte each. The server keeps none
// of them in memory.
func serverOfMany(n int) *fakeapi.Server {
	server := fakeapi.New()
	server.ListWithContextFunc = func(context.Context, metav1.ListOptions) (runtime.Object, error) {
		list := &corev1.ConfigMapList{Items: make([]corev1.ConfigMap, n)}
		for i := range list.Items {
			list.Items[i].ObjectMeta = configMap(fmt.Sprintf("object-%05d", i)).ObjectMeta
			list.Items[i].Data = map[string]string{"text": strings.Repeat("x", 1024)}
		}
		return list, nil
	}
	return server
}

func TestForgetGivesTheMemoryBack(t *testing.T) {
	const n = 20_000
	f := New(newClientWithoutServer(t), Options{})
	before, goroutines := usage.Heap(), must.Goroutines()
	newFunc := newInformerFunc(serverOfMany(n), &corev1.ConfigMap{})
	_, err := f.ClientGo().InformerFor(&corev1.ConfigMap{}, newFunc).AddEventHandler(
		cache.ResourceEventHandlerFuncs{AddFunc: func(any) {}})
	must.NoError(t, err)
	start(t, f)
	if got := len(f.ConfigMaps().Informer().GetStore().ListKeys()); got != n {
		t.Fatalf("the store has %d objects, want %d", got, n)
	}
	cached := usage.Heap() - before

	f.Forget(ConfigMaps)
	left := usage.Heap() - before
	must.NoNewGoroutines(t, goroutines, "net/http.") // nobody can wait for those of a connection
	t.Logf("%d objects: %d KiB cached, %d KiB left", n, cached>>10, left>>10)
	if cached < n<<10 {
		t.Errorf("%d objects use %d KiB, want at least %d KiB: the test measures nothing", n, cached>>10, n)
	}
	if left > cached/10 {
		t.Errorf("%d KiB of %d KiB are in use after Forget, want at most a tenth", left>>10, cached>>10)
	}
}

func TestAfterForgetThereIsAFreshOne(t *testing.T) {
	server, client, _ := newServer(t, map[string]iter.Seq[any]{configMaps: configMapsNamed("a")})
	f := New(client, Options{})
	old := f.ConfigMaps()
	start(t, f)
	f.Forget(ConfigMaps)
	if !old.Informer().IsStopped() {
		t.Error("IsStopped() of the forgotten informer = false, want true")
	}
	if _, err := old.Lister().ConfigMaps("ns").Get("a"); err != nil {
		t.Errorf("Get(a) of the forgotten informer's lister = %v, want the last state", err)
	}
	server.Reset()
	fresh := f.ConfigMaps().Informer()
	if fresh == old.Informer() {
		t.Error("ConfigMaps() returns the forgotten informer, want a new one")
	}
	if fresh.HasSynced() {
		t.Error("the new informer has synced before Start")
	}
	start(t, f)
	if !fresh.HasSynced() {
		t.Error("the new informer has not synced after Start and WaitForCacheSync")
	}
	if server.Lists() != 1 {
		t.Errorf("%d lists by the new informer, want 1", server.Lists())
	}
}

func TestForgetLeavesTheOthersAlone(t *testing.T) {
	client := fake.NewClientset()
	f := New(client, Options{})
	f.Nodes()
	kept := f.ConfigMaps()
	start(t, f)
	f.Forget(Nodes)
	_, err := client.CoreV1().ConfigMaps("ns").Create(t.Context(), configMap("b"), metav1.CreateOptions{})
	must.NoError(t, err)
	must.Until(t, "the other informer has cached b", func() bool {
		// If the informer's watch began after Create, it brings this update.
		_, err := client.CoreV1().ConfigMaps("ns").Update(t.Context(), configMap("b"), metav1.UpdateOptions{})
		must.NoError(t, err)
		_, err = kept.Lister().ConfigMaps("ns").Get("b")
		return err == nil
	})
}

func TestForgetWhatDoesNotRunOrIsNotThere(t *testing.T) {
	f := New(fake.NewClientset(), Options{})
	f.Forget(Pods) // never asked for
	old := f.Pods().Informer()
	f.Forget(Pods) // never started
	f.Forget(Pods)
	if f.Pods().Informer() == old {
		t.Error("Pods() returns the forgotten informer, want a new one")
	}
	start(t, f)
	f.Forget(Pods)
	f.Forget(Pods)
	f.Pods()
	f.Shutdown()
	f.Forget(Pods) // after Shutdown
}

// Forget may wait for a long time. Other methods of the factory do not wait for it.
func TestForgetDoesNotHoldTheLockWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := New(newClientWithoutPods(), Options{})
		release := startBlocked(t, f)
		forgotten := startCall(func() { f.Forget(ConfigMaps) })
		if forgotten.returned() {
			t.Error("Forget has returned while the handler was blocked")
		}
		if f.mu.TryLock() {
			f.mu.Unlock()
		} else {
			t.Error("Forget holds the lock of the factory while it waits for a handler")
		}
		close(release)
		<-forgotten
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
				f := New(newClientWithoutPods(), Options{})
				release := startBlocked(t, f)
				var calls []call
				for _, fn := range test.order {
					calls = append(calls, startCall(func() { fn(f) }))
					synctest.Wait()
				}
				for i, c := range calls {
					if c.returned() {
						t.Errorf("call %d has returned while the handler was blocked", i+1)
					}
				}
				fresh := f.ConfigMaps().Informer()
				f.Start(t.Context())
				close(release)
				<-calls[0]
				<-calls[1]
				if fresh.HasSynced() {
					t.Error("an informer that was asked for after Shutdown has synced: Start has started it")
				}
				if fresh.IsStopped() {
					t.Error("an informer that was asked for after Shutdown has stopped, want that nobody touches it")
				}
			})
		})
	}
}
