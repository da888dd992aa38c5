// The garbage collector: it deletes what has lost its owner, of any kind that
// the API server knows, kinds defined while it runs included.

package controllers

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/discovery"
	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// discoverEvery is how long a kind defined just now may wait for its garbage
// to be collected.
const discoverEvery = 10 * time.Second

type collector struct {
	gc        *garbagecollector.GarbageCollector
	discovery discovery.DiscoveryInterface
	metadata  metadatainformer.SharedInformerFactory
	started   chan struct{} // closed once the informers of the other controllers run
}

func newCollector(ctx context.Context, m *manager) (*collector, error) {
	c := &collector{
		discovery: m.client.Discovery(),
		metadata: metadatainformer.NewSharedInformerFactoryWithOptions(m.metadata, resync,
			metadatainformer.WithTransform(trim)),
		started: make(chan struct{}),
	}
	// The mapper has a discovery client of its own: the collector clears that
	// one's cache whenever it sees that the kinds have changed.
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(m.client.Discovery()))
	var err error
	c.gc, err = garbagecollector.NewGarbageCollector(ctx, m.client, m.metadata, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(m.factory, c.metadata),
		c.started)
	if err != nil {
		return nil, fmt.Errorf("making the garbage collector: %w", err)
	}
	return c, nil
}

// start lets the collector begin; call it when the shared informers run.
func (c *collector) start(ctx context.Context) {
	c.metadata.Start(ctx.Done())
	close(c.started)
}

func (c *collector) shutdown() { c.metadata.Shutdown() }

func (c *collector) run(ctx context.Context) { c.gc.Run(ctx, workers, discoverEvery) }

// sync asks the API server now and then which kinds there are, and watches
// those that are new.
func (c *collector) sync(ctx context.Context) { c.gc.Sync(ctx, c.discovery, discoverEvery) }
