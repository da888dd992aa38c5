// Package controllers runs the controllers of the Kubernetes controller
// manager that make namespaces and Deployments live, without the rest of it.
package controllers

import (
	"context"
	"fmt"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	"k8s.io/kubernetes/pkg/controller/deployment"
	"k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

const (
	// resync is how often an informer replays its cache to the controllers.
	resync = 12 * time.Hour
	// workers is how many objects of a kind a controller handles at once.
	workers = 4
)

// A loop is one controller, ready to run until its context is done.
type loop func(context.Context)

// a manager builds the loops; what it holds is shared by all of them.
type manager struct {
	client   kubernetes.Interface
	metadata metadata.Interface
	factory  informers.SharedInformerFactory
	rootCA   []byte
}

// NewFactory makes the factory whose informers all controllers share.
type NewFactory func(client kubernetes.Interface, resync time.Duration,
	transform cache.TransformFunc) informers.SharedInformerFactory

// ClientGo makes client-go's own.
func ClientGo(client kubernetes.Interface, resync time.Duration,
	transform cache.TransformFunc) informers.SharedInformerFactory {
	return informers.NewSharedInformerFactoryWithOptions(client, resync, informers.WithTransform(transform))
}

// Run waits for the API server, then runs all controllers until ctx is done.
// rootCA is the certificate, in PEM, that every namespace gets in the
// ConfigMap kube-root-ca.crt.
func Run(ctx context.Context, config *rest.Config, rootCA []byte, newFactory NewFactory) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a metadata client: %w", err)
	}
	if err := waitForAPI(ctx, client); err != nil {
		return err
	}
	m := &manager{
		client:   client,
		metadata: metadataClient,
		factory:  newFactory(client, resync, trim),
		rootCA:   rootCA,
	}
	return m.run(ctx)
}

func (m *manager) run(ctx context.Context) error {
	builders := []func(context.Context) (loop, error){
		m.serviceAccounts, m.rootCAPublisher, m.namespaces, m.deployments, m.replicaSets, m.clusterRoles,
	}
	var loops []loop
	for _, build := range builders {
		l, err := build(ctx)
		if err != nil {
			return err
		}
		loops = append(loops, l)
	}
	collector, err := newCollector(ctx, m)
	if err != nil {
		return err
	}
	loops = append(loops, collector.run, collector.sync)

	m.factory.StartWithContext(ctx)
	defer m.factory.Shutdown()
	collector.start(ctx)
	defer collector.shutdown()

	var wg sync.WaitGroup
	for _, l := range loops {
		wg.Go(func() { l(ctx) })
	}
	wg.Wait()
	return ctx.Err()
}

func (m *manager) serviceAccounts(ctx context.Context) (loop, error) {
	c, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx),
		m.factory.Core().V1().ServiceAccounts(),
		m.factory.Core().V1().Namespaces(), m.client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, fmt.Errorf("making the service account controller: %w", err)
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func (m *manager) rootCAPublisher(context.Context) (loop, error) {
	c, err := rootcacertpublisher.NewPublisher(m.factory.Core().V1().ConfigMaps(), m.factory.Core().V1().Namespaces(),
		m.client, m.rootCA)
	if err != nil {
		return nil, fmt.Errorf("making the root CA publisher: %w", err)
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func (m *manager) namespaces(ctx context.Context) (loop, error) {
	c := namespace.NewNamespaceController(ctx, m.client, m.metadata,
		m.client.Discovery().ServerPreferredNamespacedResources,
		m.factory.Core().V1().Namespaces(), resync, v1.FinalizerKubernetes)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func (m *manager) deployments(ctx context.Context) (loop, error) {
	c, err := deployment.NewDeploymentController(ctx, m.factory.Apps().V1().Deployments(),
		m.factory.Apps().V1().ReplicaSets(),
		m.factory.Core().V1().Pods(), m.client)
	if err != nil {
		return nil, fmt.Errorf("making the deployment controller: %w", err)
	}
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

func (m *manager) replicaSets(ctx context.Context) (loop, error) {
	c := replicaset.NewReplicaSetController(ctx, m.factory.Apps().V1().ReplicaSets(), m.factory.Core().V1().Pods(),
		m.client, replicaset.BurstReplicas)
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// clusterRoles fills the roles admin, edit and view, which are empty until
// someone gathers the rules of the roles that aggregate to them.
func (m *manager) clusterRoles(context.Context) (loop, error) {
	c := clusterroleaggregation.NewClusterRoleAggregation(m.factory.Rbac().V1().ClusterRoles(), m.client.RbacV1())
	return func(ctx context.Context) { c.Run(ctx, workers) }, nil
}

// waitForAPI returns when the API server says that it is ready. The
// controllers would wait as well, but with pauses that grow.
func waitForAPI(ctx context.Context, client kubernetes.Interface) error {
	return wait.PollUntilContextCancel(ctx, 100*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
		if err != nil {
			klog.FromContext(ctx).V(2).Info("Waiting for the API server", "err", err)
		}
		return err == nil, nil
	})
}

// trim drops what no controller reads before an object enters a cache.
func trim(obj any) (any, error) {
	if object, err := meta.Accessor(obj); err == nil {
		object.SetManagedFields(nil)
	}
	return obj, nil
}
