// What the tests of this package share: client-go's informer and ours on a fake
// server, in fake time, and handlers that write down their calls.

package informer

import (
	"context"
	"os"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// handled is what apimachinery's error handlers were called with. Its own ones
// would wait, by a clock that each test sets back.
var handled record.Lines

func TestMain(m *testing.M) {
	if name := os.Getenv(mutates); name != "" {
		mutate(implementations[name], os.Getenv(harmless) != "")
		return
	}
	if name := os.Getenv(panics); name != "" {
		panicInside(implementations[name])
		return
	}
	klog.SetLogger(klog.Logger{}) // one that says nothing
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, err error, text string, _ ...any) { handled.Add("%s: %v", text, err) },
	}
	goleak.VerifyTestMain(m)
}

// A maker makes an informer, as client-go's NewSharedIndexInformerWithOptions does.
type maker func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

func ours(lw cache.ListerWatcher, example runtime.Object,
	options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
	return New(lw, example, options)
}

// implementations are held to the same contract.
var implementations = map[string]maker{"client-go": cache.NewSharedIndexInformerWithOptions, "ours": ours}

// forBoth runs a test with each implementation.
func forBoth(t *testing.T, test func(t *testing.T, newInformer maker)) {
	for name, newInformer := range implementations {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { test(t, newInformer) })
		})
	}
}

var configMap = fakeapi.ConfigMap

// options of an informer without resyncs. (Client-go's needs Indexers to take
// more of them.)
func options() cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}}
}

// A rig is an informer of ConfigMaps on a fake server.
type rig struct {
	cache.SharedIndexInformer
	server  *fakeapi.Server
	watches atomic.Int32 // how often a watch was asked for
	stop    func()       // ends the informer, and waits for its end; set by run
}

func newRig(newInformer maker, options cache.SharedIndexInformerOptions, objs ...runtime.Object) *rig {
	r := &rig{server: fakeapi.New(objs...)}
	watchIt := r.server.WatchFuncWithContext
	r.server.WatchFuncWithContext = func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
		r.watches.Add(1)
		return watchIt(ctx, options)
	}
	r.SharedIndexInformer = newInformer(r.server, &corev1.ConfigMap{}, options)
	return r
}

// run runs the informer until the test is over, or stop is called, and returns
// when there is nothing left to do.
func (r *rig) run(t *testing.T) {
	t.Helper()
	r.stop = must.Run(t, r.RunWithContext)
	synctest.Wait()
}

// A recorder is a handler that writes down its calls, and its registration.
type recorder struct {
	record.Lines
	cache.ResourceEventHandlerRegistration
}

// recorder adds a handler that writes down its calls.
func (r *rig) recorder(t *testing.T, options ...cache.HandlerOptions) *recorder {
	t.Helper()
	c := &recorder{}
	c.ResourceEventHandlerRegistration = r.handle(t, record.Handler(&c.Lines), options...)
	return c
}

// handle adds any handler.
func (r *rig) handle(t *testing.T, handler cache.ResourceEventHandler,
	options ...cache.HandlerOptions) cache.ResourceEventHandlerRegistration {
	t.Helper()
	registration, err := r.AddEventHandlerWithOptions(handler, append(options, cache.HandlerOptions{})[0])
	must.Do(t, err)
	return registration
}

// keys are those of a store, sorted.
func keys(store cache.Store) []string { return slices.Sorted(slices.Values(store.ListKeys())) }
