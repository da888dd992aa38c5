// The controllers of Kubernetes, in this process, on the factory of chapter 08.

package main

import (
	"context"
	"fmt"
	"io"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/controlplane/controllers"
)

// manager is the controllers while they run.
type manager struct {
	factory informers.SharedInformerFactory // whose informers they share
	stop    func()                          // returns when no goroutine of theirs is left
}

// startManager returns, beside the manager, a context that ends when the
// controllers do, and says why.
func startManager(ctx context.Context, config *rest.Config) (context.Context, *manager, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1                           // the API server rations its clients itself
	config.WarningHandler = rest.NoWarnings{} // the garbage collector watches old kinds too
	made := make(chan informers.SharedInformerFactory, 1)
	newFactory, err := ours(config, made)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		cancel(fmt.Errorf("the controllers ended: %w", controllers.Run(ctx, config, config.CAData, newFactory)))
	}()
	m := &manager{stop: func() { cancel(nil); <-ended }}
	select {
	case m.factory = <-made:
		return ctx, m, nil
	case <-ctx.Done():
		m.stop()
		return nil, nil, context.Cause(ctx)
	}
}

// ours makes factories of this workspace, and hands them to made too. With a
// dynamic client they refuse no type, so that the garbage collector, which
// watches all there are, has all its informers from there.
func ours(config *rest.Config, made chan<- informers.SharedInformerFactory) (controllers.NewFactory, error) {
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("making a dynamic client: %w", err)
	}
	return func(client kubernetes.Interface, resync time.Duration,
		transform cache.TransformFunc) informers.SharedInformerFactory {
		f := factory.New(client, factory.Options{Resync: resync, Transform: transform, Dynamic: dynamicClient})
		made <- f.ClientGo()
		return f.ClientGo()
	}, nil
}

// show tells whose informers the controllers run on.
func (m *manager) show(out io.Writer) error {
	for _, resource := range []schema.GroupVersionResource{factory.Deployments, factory.ReplicaSets, factory.Pods} {
		shared, err := m.factory.ForResource(resource)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "the informer of %s : %T\n", resource.Resource, shared.Informer())
	}
	return nil
}

// hold counts what the informers' stores hold of the Deployment.
func (m *manager) hold() (counts, error) {
	of := labels.SelectorFromSet(app)
	deployments, err := m.factory.Apps().V1().Deployments().Lister().Deployments(namespace).List(of)
	if err != nil {
		return counts{}, err
	}
	sets, err := m.factory.Apps().V1().ReplicaSets().Lister().ReplicaSets(namespace).List(of)
	if err != nil {
		return counts{}, err
	}
	pods, err := m.factory.Core().V1().Pods().Lister().Pods(namespace).List(of)
	return counts{len(deployments), len(sets), len(pods)}, err
}
