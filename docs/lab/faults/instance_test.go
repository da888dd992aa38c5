package faults

import (
	"context"
	"math"
	"runtime/pprof"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/transport"

	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fault"
	"example.com/informer/scripts/harness/must"
	"example.com/informer/scripts/harness/record"
)

// implementation is client-go's informer, or ours.
type implementation struct {
	name     string
	inFlight int // how many calls may still come after a handler was removed
	new      func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer
}

const clientGo, ours = "client-go", "ours"

// implementations go through every fault side by side.
var implementations = []implementation{
	// After a removal, a select decides whether client-go's listener makes another call or ends. So
	// each further call is half as likely as the one before.
	{name: clientGo, inFlight: 16, new: cache.NewSharedIndexInformerWithOptions},
	{name: ours, inFlight: 1, new: parttwo.Parts.New},
}

// instance is a running implementation: an informer of ConfigMaps and one of pods, with a proxy.
type instance struct {
	implementation
	proxy    *fault.Proxy
	requests fault.Requests
	frames   fault.Frames

	result     result
	goroutines int // the number of its goroutines before the fault
	informers  []*testInformer
	cancel     context.CancelFunc
	running    sync.WaitGroup
	disconnect func()
}

// result is the result of one implementation in one scenario.
type result struct {
	events   int           // the number of handler calls
	errors   int           // the number of errors that the checker found
	recovery time.Duration // from the end of the fault until the stores were up to date
}

// results are the results of one scenario, by the names of the implementations.
type results map[string]result

// never is the recovery time of an implementation that does not recover.
const never = time.Duration(math.MaxInt64)

// label is the key of the pprof label of an instance's goroutines. Its value is the name of the
// instance.
const label = "instance"

// startInstance starts the informers of an instance. Their goroutines get the instance's label, so
// that they can be counted.
func (s *scenario) startInstance(impl implementation) {
	config := s.env.accountConfig()
	proxy, err := fault.For(config)
	must.NoError(s, err)
	config.Dial = proxy.Dial
	in := &instance{implementation: impl, proxy: proxy, result: result{recovery: never}}
	config.Wrap(in.frames.Wrap)
	config.Wrap(in.requests.Wrap)
	if s.scale.rereadsTokens {
		config.Wrap(transport.ResettableTokenSourceWrapTransport(
			transport.NewCachedFileTokenSource(config.BearerTokenFile)))
		config.BearerTokenFile = ""
	}
	client, disconnect, err := connect(config)
	must.NoError(s, err)
	s.instances = append(s.instances, in)
	in.disconnect = disconnect
	ctx, cancel := context.WithCancel(s.Context())
	in.cancel = cancel
	pprof.Do(ctx, pprof.Labels(label, in.name), func(ctx context.Context) {
		must.NoError(s, in.run(ctx, client.CoreV1().RESTClient()))
	})
}

// run starts an informer for each resource, with the handlers of a scenario.
func (in *instance) run(ctx context.Context, client rest.Interface) error {
	for resource, example := range map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "pods": &corev1.Pod{}} {
		lw := cache.NewListWatchFromClient(client, resource, "", fields.Everything())
		i := &testInformer{
			SharedIndexInformer: in.new(lw, example, cache.SharedIndexInformerOptions{
				ResyncPeriod: resyncPeriod,
				Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "app": byApp},
			}),
			inFlight: in.inFlight, resource: resource, handlers: map[string]*handler{},
		}
		for _, kind := range []string{fast, slow, stalled, stuck, panicking, resynced, removedBefore, removedDuring} {
			if err := i.add(kind); err != nil {
				return err
			}
		}
		in.informers = append(in.informers, i)
		in.running.Go(func() { i.RunWithContext(ctx) })
	}
	return nil
}

// byApp is an index function. The workload often changes this label.
func byApp(obj any) ([]string, error) { return []string{obj.(record.Object).GetLabels()["app"]}, nil }

// every reports whether a condition is true for every informer of the instance.
func (in *instance) every(condition func(*testInformer) bool) bool {
	return !slices.ContainsFunc(in.informers, func(i *testInformer) bool { return !condition(i) })
}

// stop stops the informers, and returns when they have stopped.
func (in *instance) stop() {
	for _, i := range in.informers {
		for _, h := range i.handlers {
			h.resume()
		}
	}
	in.cancel()
	in.running.Wait()
	in.disconnect()
	in.proxy.Close()
}

// testInformer watches one resource, in all namespaces.
type testInformer struct {
	cache.SharedIndexInformer
	inFlight int // see implementation
	resource string
	handlers map[string]*handler // by kind
}

// add adds a handler of this kind.
func (i *testInformer) add(kind string) error {
	h := newHandler(kind)
	resync := time.Duration(0)
	if kind == resynced {
		resync = resyncPeriod
	}
	var err error
	h.registration, err = i.AddEventHandlerWithResyncPeriod(h, resync)
	i.handlers[kind] = h
	return err
}

// remove removes the handler of this kind.
func (i *testInformer) remove(kind string) error {
	h := i.handlers[kind]
	defer h.Removed(i.inFlight)
	return i.RemoveEventHandler(h.registration)
}

// synced reports whether every handler has synced, except for the one that panics. That one may never
// sync, because client-go counts only calls that return.
func (i *testInformer) synced() bool {
	for kind, h := range i.handlers {
		if kind != panicking && !h.registration.HasSynced() {
			return false
		}
	}
	return true
}
