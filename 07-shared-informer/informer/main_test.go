// The fixtures of the tests: informers on a fake server, in fake time, and handlers that record
// their calls.

package informer_test

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"

	"go.uber.org/goleak"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fakeapi"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// handled are the errors that were reported to apimachinery's error handlers. The original handlers
// limit their rate with a clock, and each test sets that clock back.
var handled record.Lines

func TestMain(m *testing.M) {
	klog.SetLogger(klog.Logger{}) // logs nothing
	utilruntime.ErrorHandlers = []utilruntime.ErrorHandler{
		func(_ context.Context, err error, text string, _ ...any) { handled.Add("%s: %v", text, err) },
	}
	goleak.VerifyTestMain(m)
}

// A maker makes an informer, as client-go's NewSharedIndexInformerWithOptions does.
type maker func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// partOne and partTwo are our informer with the parts of Part I, and of Part II.
var (
	partOne maker = informer.Parts{}.New // each part is the one of Default
	partTwo maker = parttwo.Parts.New
)

// implementations must keep the same contract, with the exceptions in notKept: client-go's informer,
// and ours with the parts of Part I, with each of them replaced, and with those of Part II.
var implementations = map[string]maker{
	"client-go": cache.NewSharedIndexInformerWithOptions,
	"deltafifo": informer.Parts{Queue: informer.DeltaFIFO}.New,
	"part-one":  partOne,
	"no-queue":  informer.Parts{Queue: parttwo.NoQueue}.New,
	"snapshots": informer.Parts{Store: parttwo.Store}.New,
	"journal":   informer.Parts{Fanout: parttwo.Journal}.New,
	"part-two":  partTwo,
}

func forEach(t *testing.T, test func(t *testing.T, newInformer maker)) {
	for name, newInformer := range implementations {
		t.Run(name, func(t *testing.T) {
			if keeps(t) {
				synctest.Test(t, func(t *testing.T) { test(t, newInformer) })
			}
		})
	}
}

// each returns a value for each implementation. The value of "ours" is for all of ours that have no
// value of their own.
func each[T any](values map[string]T) map[string]T {
	all := map[string]T{}
	for name := range implementations {
		value, ok := values[name]
		if !ok {
			value = values["ours"]
		}
		all[name] = value
	}
	return all
}

// forOurs runs a test of what client-go's informer does not have.
func forOurs(t *testing.T, test func(t *testing.T, newInformer maker)) {
	for name, newInformer := range implementations {
		if name == "client-go" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			if keeps(t) {
				synctest.Test(t, func(t *testing.T) { test(t, newInformer) })
			}
		})
	}
}

var configMap = fakeapi.ConfigMap

// options are those of an informer without resyncs. (client-go's AddIndexers needs a map of
// Indexers.)
func options() cache.SharedIndexInformerOptions {
	return cache.SharedIndexInformerOptions{Indexers: cache.Indexers{}}
}

// A rig is an informer of ConfigMaps on a fake server.
type rig struct {
	cache.SharedIndexInformer
	server *fakeapi.Server
	stop   func() // ends the informer, and waits for its end; set by run
}

func newRig(newInformer maker, options cache.SharedIndexInformerOptions, objs ...runtime.Object) *rig {
	r := &rig{server: fakeapi.New(objs...)}
	r.SharedIndexInformer = newInformer(r.server, &corev1.ConfigMap{}, options)
	return r
}

// run runs the informer until the test is over, or stop is called. It returns when all goroutines
// are blocked.
func (r *rig) run(t *testing.T) {
	t.Helper()
	r.stop = must.Run(t, r.RunWithContext)
	synctest.Wait()
}

// A recorder is a handler that records its calls, and its registration.
type recorder struct {
	record.Lines
	cache.ResourceEventHandlerRegistration
}

// recorder adds a handler that records its calls.
func (r *rig) recorder(t *testing.T, options ...cache.HandlerOptions) *recorder {
	t.Helper()
	c := &recorder{}
	c.ResourceEventHandlerRegistration = r.handle(t, record.Handler(&c.Lines), options...)
	return c
}

// handle adds a handler, with at most one set of options.
func (r *rig) handle(t *testing.T, handler cache.ResourceEventHandler,
	options ...cache.HandlerOptions) cache.ResourceEventHandlerRegistration {
	t.Helper()
	var chosen cache.HandlerOptions
	if len(options) > 0 {
		chosen = options[0]
	}
	registration, err := r.AddEventHandlerWithOptions(handler, chosen)
	must.NoError(t, err)
	return registration
}

func keys(store cache.Store) []string { return slices.Sorted(slices.Values(store.ListKeys())) }
