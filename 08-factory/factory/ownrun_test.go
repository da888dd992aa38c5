// Informers of the factory that the program runs itself.

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

	"example.com/informer/scripts/harness/expect"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
)

// eachEnd runs a test with each way to end the informer of ConfigMaps.
func eachEnd(t *testing.T, test func(t *testing.T, end func(*Factory))) {
	for name, end := range map[string]func(*Factory){
		"Forget": func(f *Factory) { f.Forget(ConfigMaps) }, "Shutdown": (*Factory).Shutdown,
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { test(t, end) }) })
	}
}

// programRuns has the program run the informer before or after the factory starts
// it. When it is ended, the last handler has returned, and none is called any more.
func programRuns(t *testing.T, end func(*Factory), before, after func(*Factory)) {
	client := fake.NewClientset(configMap("a"))
	f := New(client, Options{})
	defer f.Shutdown()
	configMaps := f.ConfigMaps().Informer()
	release, calls := make(chan struct{}), atomic.Int32{}
	_, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(any) { calls.Add(1); <-release },
	})
	must.Do(t, err)
	before(f)
	synctest.Wait()
	run := goOn(func() { configMaps.RunWithContext(t.Context()) })
	synctest.Wait()
	after(f)
	ended := goOn(func() { end(f) })
	expect.That(t, !ended.returned(), "it has returned while the handler was busy")
	close(release)
	expect.That(t, ended.returned() && run.returned() && configMaps.IsStopped(),
		"returned: %t, the run: %t, stopped: %t", ended.returned(), run.returned(), configMaps.IsStopped())
	_, err = client.CoreV1().ConfigMaps("ns").Create(t.Context(), configMap("b"), metav1.CreateOptions{})
	must.Do(t, err)
	synctest.Wait()
	expect.That(t, calls.Load() == 1, "the handler was called afterwards")
}

func TestAnInformerThatTheProgramRunsEndsToo(t *testing.T) {
	eachEnd(t, func(t *testing.T, end func(*Factory)) {
		nothing, start := func(*Factory) {}, func(f *Factory) { f.Start(t.Context()) }
		programRuns(t, end, nothing, nothing)
		programRuns(t, end, start, nothing)
		programRuns(t, end, nothing, start)
	})
}

func TestTheProgramCannotRunWhatHasEnded(t *testing.T) {
	eachEnd(t, func(t *testing.T, end func(*Factory)) {
		client := fake.NewClientset(configMap("a"))
		f := New(client, Options{})
		configMaps := f.ConfigMaps().Informer()
		end(f)
		run := goOn(func() { configMaps.RunWithContext(t.Context()) })
		expect.That(t, run.returned() && configMaps.IsStopped() && len(client.Actions()) <= 0,
			"it runs, and asks for %v", client.Actions())
	})
}

// Of an informer of client-go's, only the context can stop a run.
func TestAnInformerOfClientGosEndsIfTheFactoryRunsIt(t *testing.T) {
	for _, started := range []bool{true, false} {
		eachEnd(t, func(t *testing.T, end func(*Factory)) {
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
			call := goOn(run)
			synctest.Wait()
			end(f)
			expect.That(t, theirs.IsStopped() == started, "started: %t, stopped: %t", started, theirs.IsStopped())
			cancel()
			<-call
		})
	}
}
