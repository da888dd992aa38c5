// Informers of the factory that the program runs itself, with RunWithContext.

package factory

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// forgetAndShutdown runs a test twice: once with Forget and once with Shutdown as the function that
// ends the informer of ConfigMaps.
func forgetAndShutdown(t *testing.T, test func(t *testing.T, end func(*Factory))) {
	for name, end := range map[string]func(*Factory){
		"Forget":   func(f *Factory) { f.Forget(ConfigMaps) },
		"Shutdown": (*Factory).Shutdown,
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, end) }) })
	}
}

// testProgramRuns runs the informer of ConfigMaps with RunWithContext. It calls the functions
// before and after, which may start the factory, on either side of that. After end, the last
// handler has returned, and no handler is called any more.
func testProgramRuns(t *testing.T, end, before, after func(*Factory)) {
	client := fake.NewClientset(configMap("a"))
	f := New(client, Options{})
	defer f.Shutdown()
	configMaps := f.ConfigMaps().Informer()
	release, calls := make(chan struct{}), atomic.Int32{}
	_, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: func(any) {
		calls.Add(1)
		<-release
	}})
	must.NoError(t, err)
	before(f)
	synctest.Wait()
	run := startCall(func() { configMaps.RunWithContext(t.Context()) })
	synctest.Wait()
	after(f)
	ended := startCall(func() { end(f) })
	if ended.returned() {
		t.Error("the function that ends the informer has returned while the handler was blocked")
	}
	close(release)
	if !ended.returned() {
		t.Error("the function that ends the informer has not returned after the handler")
	}
	if !run.returned() {
		t.Error("RunWithContext has not returned")
	}
	if !configMaps.IsStopped() {
		t.Error("IsStopped() = false, want true")
	}
	_, err = client.CoreV1().ConfigMaps("ns").Create(t.Context(), configMap("b"), metav1.CreateOptions{})
	must.NoError(t, err)
	synctest.Wait()
	if got := calls.Load(); got != 1 {
		t.Errorf("the handler was called %d times, want 1: the second object came after the end", got)
	}
}

func TestAnInformerThatTheProgramRunsEndsToo(t *testing.T) {
	forgetAndShutdown(t, func(t *testing.T, end func(*Factory)) {
		doNothing := func(*Factory) {}
		start := func(f *Factory) { f.Start(t.Context()) }
		testProgramRuns(t, end, doNothing, doNothing)
		testProgramRuns(t, end, start, doNothing)
		testProgramRuns(t, end, doNothing, start)
	})
}

func TestTheProgramCannotRunWhatHasEnded(t *testing.T) {
	forgetAndShutdown(t, func(t *testing.T, end func(*Factory)) {
		client := fake.NewClientset(configMap("a"))
		f := New(client, Options{})
		configMaps := f.ConfigMaps().Informer()
		end(f)
		run := startCall(func() { configMaps.RunWithContext(t.Context()) })
		if !run.returned() {
			t.Error("RunWithContext has not returned, want that it refuses to run")
		}
		if !configMaps.IsStopped() {
			t.Error("IsStopped() = false, want true")
		}
		if requests := client.Actions(); len(requests) > 0 {
			t.Errorf("the informer has sent the requests %v, want none", requests)
		}
	})
}

// An informer of client-go's has no Stop. Only the context of its run can stop it.
func TestAnInformerOfClientGosEndsIfTheFactoryRunsIt(t *testing.T) {
	for _, started := range []bool{true, false} {
		forgetAndShutdown(t, func(t *testing.T, end func(*Factory)) {
			f := New(fake.NewClientset(), Options{})
			theirs := f.ClientGo().InformerFor(&corev1.ConfigMap{},
				func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
					return cache.NewSharedIndexInformer(fakeapi.New(), &corev1.ConfigMap{}, 0, cache.Indexers{})
				})
			ctx, cancel := context.WithCancel(t.Context())
			run := func() { theirs.RunWithContext(ctx) }
			if started {
				run = func() { f.Start(ctx) }
			}
			call := startCall(run)
			synctest.Wait()
			end(f)
			if theirs.IsStopped() != started {
				t.Errorf("started by the factory: %t; IsStopped() = %t, want %t", started, theirs.IsStopped(), started)
			}
			cancel()
			<-call
		})
	}
}

// A program gives the factory an informer whose type the factory does not know. It only has to have
// the methods Stop and ShutdownChan.
func TestAnInformerOfAnyTypeIsStopped(t *testing.T) {
	forgetAndShutdown(t, func(t *testing.T, end func(*Factory)) {
		f := New(fake.NewClientset(), Options{})
		theirs := f.ClientGo().InformerFor(&corev1.ConfigMap{},
			func(kubernetes.Interface, time.Duration) cache.SharedIndexInformer {
				return struct{ *informer.Informer }{
					informer.New(fakeapi.New(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{}),
				}
			})
		run := startCall(func() { theirs.RunWithContext(t.Context()) })
		synctest.Wait()
		end(f)
		if !run.returned() {
			t.Error("RunWithContext has not returned")
		}
	})
}
