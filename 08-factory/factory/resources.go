// The methods that return informers: Pods and others for some types, ForResource for all types.

package factory

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamiclister"
	"k8s.io/client-go/informers"
	appsinformers "k8s.io/client-go/informers/apps/v1"
	coreinformers "k8s.io/client-go/informers/core/v1"
	appslisters "k8s.io/client-go/listers/apps/v1"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
)

// The resources with a method of their own.
var (
	Pods        = corev1.SchemeGroupVersion.WithResource("pods")
	ConfigMaps  = corev1.SchemeGroupVersion.WithResource("configmaps")
	Services    = corev1.SchemeGroupVersion.WithResource("services")
	Nodes       = corev1.SchemeGroupVersion.WithResource("nodes")
	Deployments = appsv1.SchemeGroupVersion.WithResource("deployments")
	ReplicaSets = appsv1.SchemeGroupVersion.WithResource("replicasets")
)

// A Resource is the informer of one type, with the lister that reads the informer's store.
type Resource[Lister any] struct {
	informer cache.SharedIndexInformer
	lister   Lister
}

// Informer returns the informer, for example to add handlers.
func (r Resource[Lister]) Informer() cache.SharedIndexInformer { return r.informer }

// Lister returns the lister that reads the informer's store.
func (r Resource[Lister]) Lister() Lister { return r.lister }

// A controller that takes client-go's interfaces takes these types.
var (
	_ coreinformers.PodInformer        = Resource[corelisters.PodLister]{}
	_ coreinformers.ConfigMapInformer  = Resource[corelisters.ConfigMapLister]{}
	_ coreinformers.ServiceInformer    = Resource[corelisters.ServiceLister]{}
	_ coreinformers.NodeInformer       = Resource[corelisters.NodeLister]{}
	_ appsinformers.DeploymentInformer = Resource[appslisters.DeploymentLister]{}
	_ appsinformers.ReplicaSetInformer = Resource[appslisters.ReplicaSetLister]{}
	_ informers.GenericInformer        = Resource[cache.GenericLister]{}
)

// Pods returns the informer of pods. The methods for the other resources are alike.
func (f *Factory) Pods() Resource[corelisters.PodLister] {
	return typed(f, Pods, corelisters.NewPodLister)
}

// ConfigMaps returns the informer of config maps.
func (f *Factory) ConfigMaps() Resource[corelisters.ConfigMapLister] {
	return typed(f, ConfigMaps, corelisters.NewConfigMapLister)
}

// Services returns the informer of services.
func (f *Factory) Services() Resource[corelisters.ServiceLister] {
	return typed(f, Services, corelisters.NewServiceLister)
}

// Nodes returns the informer of nodes.
func (f *Factory) Nodes() Resource[corelisters.NodeLister] {
	return typed(f, Nodes, corelisters.NewNodeLister)
}

// Deployments returns the informer of deployments.
func (f *Factory) Deployments() Resource[appslisters.DeploymentLister] {
	return typed(f, Deployments, appslisters.NewDeploymentLister)
}

// ReplicaSets returns the informer of replica sets.
func (f *Factory) ReplicaSets() Resource[appslisters.ReplicaSetLister] {
	return typed(f, ReplicaSets, appslisters.NewReplicaSetLister)
}

// typed returns the informer of a resource that client-go has a Go type for. For such a resource
// ForResource never fails.
func typed[Lister any](f *Factory, resource schema.GroupVersionResource,
	newLister func(cache.Indexer) Lister) Resource[Lister] {
	generic, err := f.ForResource(resource)
	if err != nil {
		panic(err) // the client that f was made with is not a clientset
	}
	return Resource[Lister]{informer: generic.informer, lister: newLister(generic.informer.GetIndexer())}
}

// ForResource returns the informer of any resource. Its objects have client-go's Go type if there
// is one. Otherwise they are *unstructured.Unstructured.
func (f *Factory) ForResource(resource schema.GroupVersionResource) (Resource[cache.GenericLister], error) {
	shared, err := f.informerFor(key{resource: resource}, func() (cache.SharedIndexInformer, error) {
		return f.newInformer(resource)
	})
	if err != nil {
		return Resource[cache.GenericLister]{}, err
	}
	lister := cache.NewGenericLister(shared.GetIndexer(), resource.GroupResource())
	if _, ok := kinds()[resource]; !ok {
		lister = dynamiclister.NewRuntimeObjectShim(dynamiclister.New(shared.GetIndexer(), resource))
	}
	return Resource[cache.GenericLister]{informer: shared, lister: lister}, nil
}
