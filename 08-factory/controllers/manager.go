// The controllers of Kubernetes, in this process, on the factory of chapter 08.

package main

import (
	"context"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"example.com/informer/08-factory/factory"
)

// resources are those that counts counts.
var resources = []schema.GroupVersionResource{factory.Deployments, factory.ReplicaSets, factory.Pods}

// manager is the controllers while they run.
type manager struct {
	factory informers.SharedInformerFactory // whose informers they share
	stop    func()                          // returns when no goroutine of theirs is left
}

// startManager returns, beside the manager, a context that ends when the
// controllers do, and says why.
func startManager(ctx context.Context, config *rest.Config,
	client kubernetes.Interface) (context.Context, *manager, error) {
	// With a dynamic client our factory refuses no type, so that the garbage
	// collector, which watches all there are, has all its informers from there.
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, nil, fmt.Errorf("making a dynamic client: %w", err)
	}
	options := factory.Options{Resync: resync, Transform: trim, Dynamic: dynamicClient}
	ours := factory.New(client, options).ClientGo()
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(fmt.Errorf("the controllers ended: %w", runControllers(ctx, config, client, ours, config.CAData)))
	}()
	return ctx, &manager{factory: ours, stop: func() { cancel(nil); <-ended }}, nil
}

// show prints whose informers the controllers run on.
func (m *manager) show(out io.Writer) error {
	for _, resource := range resources {
		shared, err := m.factory.ForResource(resource)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "the informer of %s : %T\n", resource.Resource, shared.Informer())
	}
	return nil
}

// hold counts what the informers' stores hold of the Deployment.
func (m *manager) hold() (held counts, err error) {
	for i, resource := range resources {
		shared, err := m.factory.ForResource(resource)
		if err != nil {
			return held, err
		}
		objects, err := shared.Lister().ByNamespace(namespace).List(labels.SelectorFromSet(app))
		if err != nil {
			return held, err
		}
		held[i] = len(objects)
	}
	return held, nil
}
