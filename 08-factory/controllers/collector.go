// The garbage collector: it deletes what has lost its owner, of any kind that
// the API server knows, kinds defined while it runs included.

package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	"k8s.io/client-go/discovery/cached/memory"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/metadata/metadatainformer"
	"k8s.io/client-go/restmapper"
	"k8s.io/controller-manager/pkg/informerfactory"
	"k8s.io/kubernetes/pkg/controller/garbagecollector"
)

// discoverEvery is how long a kind defined just now may wait for its garbage
// to be collected.
const discoverEvery = 10 * time.Second

// newCollector returns the collector as a function that runs it; call it when the
// informers of factory have been started.
func newCollector(ctx context.Context, client kubernetes.Interface, metadataClient metadata.Interface,
	factory informers.SharedInformerFactory) (run func(context.Context), err error) {
	metadataFactory := metadatainformer.NewSharedInformerFactoryWithOptions(metadataClient, resync,
		metadatainformer.WithTransform(trim))
	started := make(chan struct{})
	// The mapper has a discovery client of its own: the collector clears that
	// one's cache whenever it sees that the kinds have changed.
	mapper := restmapper.NewDeferredDiscoveryRESTMapper(memory.NewMemCacheClient(client.Discovery()))
	gc, err := garbagecollector.NewGarbageCollector(ctx, client, metadataClient, mapper,
		garbagecollector.DefaultIgnoredResources(), informerfactory.NewInformerFactory(factory, metadataFactory),
		started)
	if err != nil {
		return nil, fmt.Errorf("making the garbage collector: %w", err)
	}
	return func(ctx context.Context) {
		metadataFactory.Start(ctx.Done())
		defer metadataFactory.Shutdown()
		close(started)
		var wg sync.WaitGroup
		defer wg.Wait()
		// Sync asks the API server now and then which kinds there are, and watches
		// those that are new.
		wg.Go(func() { gc.Sync(ctx, client.Discovery(), discoverEvery) })
		gc.Run(ctx, workers, discoverEvery)
	}, nil
}
