// An instance: two informers of one implementation, one of ConfigMaps and one of pods, with a proxy
// of their own. Each informer has ten handlers.

package main

import (
	"context"
	"runtime/pprof"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/transport"

	"example.com/informer/07-shared-informer/parttwo"
	"example.com/informer/scripts/harness/fault"
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

// instance is a running implementation.
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

// label is the key of the pprof label of an instance's goroutines. Its value is the name of the
// instance.
const label = "instance"

// startInstance starts the informers of an instance. Their goroutines get the instance's label, so
// that they can be counted.
func startInstance(impl implementation) step {
	return func(ctx context.Context, s *scenario) error {
		config := s.env.accountConfig()
		proxy, err := fault.For(config)
		if err != nil {
			return err
		}
		config.Dial = proxy.Dial
		in := &instance{implementation: impl, proxy: proxy,
			result: result{fault: s.fault.name, implementation: impl.name, recovery: never}}
		config.Wrap(in.frames.Wrap)
		config.Wrap(in.requests.Wrap)
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

// run starts an informer for each resource, with the handlers of a scenario.
func (in *instance) run(ctx context.Context, client rest.Interface) error {
	for resource, example := range map[string]runtime.Object{"configmaps": &corev1.ConfigMap{}, "pods": &corev1.Pod{}} {
		lw := cache.NewListWatchFromClient(client, resource, "", fields.Everything())
		i := &testInformer{
			SharedIndexInformer: in.new(lw, example, cache.SharedIndexInformerOptions{
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

// byApp is an index function. The workload often changes this label.
func byApp(obj any) ([]string, error) { return []string{obj.(record.Object).GetLabels()["app"]}, nil }

// all says whether a condition is true for every informer of the instance.
func (in *instance) all(condition func(*testInformer) bool) bool {
	return allMatch(slices.Values(in.informers), condition)
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
