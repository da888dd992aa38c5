// An instance: two informers of one implementation, one of ConfigMaps and one of
// pods, behind a proxy of their own. Each informer has ten handlers.

package main

import (
	"context"
	"maps"
	"net/http"
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

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/docs/lab/faults/httpfault"
	"example.com/informer/scripts/harness/netfault"
	"example.com/informer/scripts/harness/record"
)

// implementation is client-go's informer, or ours.
type implementation struct {
	name     string
	inFlight int // how many calls may still come after a handler was removed
	make     func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer
}

const clientGo, ours = "client-go", "ours"

// implementations go through every fault side by side.
var implementations = []implementation{
	// After a removal client-go's listener makes another call or ends, at random
	// (a select): each further call is half as likely.
	{clientGo, 16, cache.NewSharedIndexInformerWithOptions},
	{ours, 1, func(lw cache.ListerWatcher, example runtime.Object,
		options cache.SharedIndexInformerOptions) cache.SharedIndexInformer {
		return informer.New(lw, example, options)
	}},
}

// instance is an implementation at work.
type instance struct {
	implementation
	tcp  *netfault.Proxy
	http *httpfault.Transport

	result     result
	goroutines int // before the fault
	informers  []*testInformer
	cancel     context.CancelFunc
	running    sync.WaitGroup
	disconnect func()
}

// label is the pprof label with the instance that started a goroutine.
const label = "instance"

// startInstance starts the informers. Their goroutines get the instance's label, to
// be counted.
func startInstance(impl implementation) step {
	return func(ctx context.Context, s *scenario) error {
		config := s.env.accountConfig()
		proxy, err := netfault.For(config)
		if err != nil {
			return err
		}
		config.Dial = proxy.Dial
		in := &instance{implementation: impl, tcp: proxy,
			result: result{fault: s.fault.name, implementation: impl.name, recovery: never}}
		config.Wrap(func(next http.RoundTripper) http.RoundTripper {
			in.http = httpfault.New(next)
			return in.http
		})
		if s.scale.rereadsTokens {
			config.Wrap(transport.ResettableTokenSourceWrapTransport(
				transport.NewCachedFileTokenSource(config.BearerTokenFile)))
			config.BearerTokenFile = ""
		}
		client, disconnect, err := connect(config)
		if err != nil {
			return err
		}
		s.instances = append(s.instances, in)
		in.disconnect = disconnect
		ctx, in.cancel = context.WithCancel(ctx)
		pprof.Do(ctx, pprof.Labels(label, in.name), func(ctx context.Context) {
			err = in.run(ctx, client.CoreV1().RESTClient())
		})
		return err
	}
}

func (in *instance) run(ctx context.Context, client rest.Interface) error {
	for resource, example := range map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "pods": &corev1.Pod{}} {
		lw := cache.NewListWatchFromClient(client, resource, "", fields.Everything())
		i := &testInformer{
			SharedIndexInformer: in.make(lw, example, cache.SharedIndexInformerOptions{
				ResyncPeriod: resyncPeriod,
				Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc, "app": byApp},
			}),
			implementation: in.implementation, resource: resource, handlers: map[string]*handler{},
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

// byApp is an index function: the workload keeps changing this label.
func byApp(obj any) ([]string, error) { return []string{obj.(record.Object).GetLabels()["app"]}, nil }

func (in *instance) all(condition func(*testInformer) bool) bool {
	return every(slices.Values(in.informers), condition)
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
	in.tcp.Close()
}

// The kinds of handlers. These are added before the informer starts:
const (
	fast          = "fast"
	slow          = "slow"           // takes a millisecond for a call, on average
	stalled       = "stalled"        // does not return from a call while the fault lasts
	stuck         = "stuck"          // does not return until the store is up to date again
	panicking     = "panicking"      // panics, twice, after it has recorded the call
	resynced      = "resynced"       // gets a resync every second
	removedBefore = "removed before" // is removed before the fault
	removedDuring = "removed during" // is removed during the fault

	// These are added later.
	addedDuring = "added during" // during the fault
	addedAfter  = "added after"  // when the store is up to date again
)

const resyncPeriod = time.Second

// handler is a recorder that can be slow, stall, or panic.
type handler struct {
	*record.Recorder
	registration cache.ResourceEventHandlerRegistration
	gate         sync.RWMutex // locked while the handler stalls
	resume       func()       // ends that
}

func newHandler(kind string) *handler {
	h := &handler{resume: func() {}}
	var after func(int)
	switch kind {
	case slow:
		after = func(n int) {
			if n%10 == 0 && n < 10_000 { // then it is fast, to catch up at all
				time.Sleep(10 * time.Millisecond)
			}
		}
	case stalled, stuck:
		after = func(int) {
			h.gate.RLock()
			defer h.gate.RUnlock()
		}
	case panicking:
		after = func(n int) {
			if n == 50 || n == 100 {
				panic("this handler panics at times")
			}
		}
	}
	h.Recorder = record.NewRecorder(after)
	return h
}

// stall makes the next call last until resume.
func (h *handler) stall() {
	h.gate.Lock()
	h.resume = sync.OnceFunc(h.gate.Unlock)
}

// testInformer watches one resource, in all namespaces.
type testInformer struct {
	cache.SharedIndexInformer
	implementation
	resource string
	handlers map[string]*handler // by kind
}

func (i *testInformer) add(kind string) (err error) {
	h := newHandler(kind)
	resync := map[string]time.Duration{resynced: resyncPeriod}[kind]
	h.registration, err = i.AddEventHandlerWithResyncPeriod(h, resync)
	i.handlers[kind] = h
	return err
}

func (i *testInformer) remove(kind string) error {
	h := i.handlers[kind]
	defer h.Removed(i.inFlight)
	return i.RemoveEventHandler(h.registration)
}

// synced tells whether every handler has synced. The one that panics may never do
// so: client-go counts only calls that return.
func (i *testInformer) synced() bool {
	return every(maps.Values(i.handlers), func(h *handler) bool {
		return h == i.handlers[panicking] || h.registration.HasSynced()
	})
}
