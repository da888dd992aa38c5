// The controllers of the Kubernetes controller manager that namespaces and Deployments need.

package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
	"k8s.io/kubernetes/pkg/controller/clusterroleaggregation"
	deployments "k8s.io/kubernetes/pkg/controller/deployment"
	namespaces "k8s.io/kubernetes/pkg/controller/namespace"
	"k8s.io/kubernetes/pkg/controller/replicaset"
	"k8s.io/kubernetes/pkg/controller/serviceaccount"
)

// runControllers runs all controllers until ctx ends. They use the informers of factory, which
// runControllers starts and shuts down. rootCA is the certificate, in PEM, that each namespace gets
// in the ConfigMap kube-root-ca.crt.
func runControllers(ctx context.Context, config *rest.Config, client kubernetes.Interface,
	factory informers.SharedInformerFactory, rootCA []byte) error {
	metadataClient, err := metadata.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a metadata client: %w", err)
	}
	all, err := newControllers(ctx, client, metadataClient, factory, rootCA)
	if err != nil {
		return err
	}
	collect, err := newCollector(ctx, client, metadataClient, factory)
	if err != nil {
		return err
	}
	factory.StartWithContext(ctx)
	defer factory.Shutdown()
	var wg sync.WaitGroup
	for _, c := range all {
		wg.Go(func() { c.Run(ctx, workers) })
	}
	wg.Go(func() { collect(ctx) })
	wg.Wait()
	return ctx.Err()
}

// A controller runs until its context ends.
type controller interface {
	Run(ctx context.Context, workers int)
}

// newControllers makes all controllers except the garbage collector.
func newControllers(ctx context.Context, client kubernetes.Interface, metadataClient metadata.Interface,
	factory informers.SharedInformerFactory, rootCA []byte) ([]controller, error) {
	core, apps := factory.Core().V1(), factory.Apps().V1()
	serviceAccounts, err := serviceaccount.NewServiceAccountsController(klog.FromContext(ctx), core.ServiceAccounts(),
		core.Namespaces(), client, serviceaccount.DefaultServiceAccountsControllerOptions())
	if err != nil {
		return nil, fmt.Errorf("making the service account controller: %w", err)
	}
	rootCAs, err := rootcacertpublisher.NewPublisher(core.ConfigMaps(), core.Namespaces(), client, rootCA)
	if err != nil {
		return nil, fmt.Errorf("making the root CA publisher: %w", err)
	}
	deploymentController, err := deployments.NewDeploymentController(ctx, apps.Deployments(), apps.ReplicaSets(),
		core.Pods(), client)
	if err != nil {
		return nil, fmt.Errorf("making the deployment controller: %w", err)
	}
	return []controller{
		serviceAccounts,
		rootCAs,
		deploymentController,
		replicaset.NewReplicaSetController(ctx, apps.ReplicaSets(), core.Pods(), client, replicaset.BurstReplicas),
		namespaces.NewNamespaceController(ctx, client, metadataClient,
			client.Discovery().ServerPreferredNamespacedResources, core.Namespaces(), resync,
			corev1.FinalizerKubernetes),
		// The roles admin, edit and view are empty until this controller has collected the rules of
		// the roles that aggregate to them.
		clusterroleaggregation.NewClusterRoleAggregation(factory.Rbac().V1().ClusterRoles(), client.RbacV1()),
	}, nil
}
