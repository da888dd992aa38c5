// The garbage collector of Kubernetes. It deletes objects that have lost their owner. It knows all
// kinds of the API server, including those that somebody defines while it runs.

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

// discoverEvery is the time between two looks for new kinds.
const discoverEvery = 10 * time.Second

// newCollector returns a function that runs the collector. Call it after the informers of factory
// have been started.
func newCollector(ctx context.Context, client kubernetes.Interface, metadataClient metadata.Interface,
	factory informers.SharedInformerFactory) (run func(context.Context), err error) {
	metadataFactory := metadatainformer.NewSharedInformerFactoryWithOptions(metadataClient, resync,
		metadatainformer.WithTransform(trim))
	started := make(chan struct{})
	// The mapper has its own cached discovery client: the collector clears this cache when the
	// kinds have changed.
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
		// Sync asks the API server for its kinds at intervals, and watches the new ones.
		wg.Go(func() { gc.Sync(ctx, client.Discovery(), discoverEvery) })
		gc.Run(ctx, workers, discoverEvery)
	}, nil
}
