// The factory behind client-go's interface, for programs that take a SharedInformerFactory.

package factory

import (
	"context"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/informers/admissionregistration"
	"k8s.io/client-go/informers/apiserverinternal"
	"k8s.io/client-go/informers/apps"
	"k8s.io/client-go/informers/autoscaling"
	"k8s.io/client-go/informers/batch"
	"k8s.io/client-go/informers/certificates"
	"k8s.io/client-go/informers/coordination"
	"k8s.io/client-go/informers/core"
	"k8s.io/client-go/informers/discovery"
	"k8s.io/client-go/informers/events"
	"k8s.io/client-go/informers/extensions"
	"k8s.io/client-go/informers/flowcontrol"
	"k8s.io/client-go/informers/internalinterfaces"
	"k8s.io/client-go/informers/lifecycle"
	"k8s.io/client-go/informers/networking"
	"k8s.io/client-go/informers/node"
	"k8s.io/client-go/informers/policy"
	"k8s.io/client-go/informers/rbac"
	"k8s.io/client-go/informers/resource"
	"k8s.io/client-go/informers/scheduling"
	"k8s.io/client-go/informers/storage"
	"k8s.io/client-go/informers/storagemigration"
	"k8s.io/client-go/tools/cache"
)

// ClientGo returns the factory as client-go's interface, for a controller that takes one. The
// informers are those of this factory.
func (f *Factory) ClientGo() informers.SharedInformerFactory { return sharedInformerFactory{f} }

// A sharedInformerFactory implements informers.SharedInformerFactory.
type sharedInformerFactory struct{ f *Factory }

func (s sharedInformerFactory) Start(stop <-chan struct{}) {
	s.StartWithContext(wait.ContextForChannel(stop))
}
func (s sharedInformerFactory) StartWithContext(ctx context.Context) { s.f.Start(ctx) }
func (s sharedInformerFactory) Shutdown()                            { s.f.Shutdown() }
func (s sharedInformerFactory) InformerName() *cache.InformerName    { return s.f.options.InformerName }

func (s sharedInformerFactory) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return s.WaitForCacheSyncWithContext(wait.ContextForChannel(stop)).Synced
}

// WaitForCacheSyncWithContext returns, for each Go type, whether all of its informers have synced.
// A Go type can have several informers: all those of the dynamic client have the same type.
func (s sharedInformerFactory) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	syncedKeys, err := s.f.waitForCacheSync(ctx)
	result := cache.SyncResult{Err: err, Synced: map[reflect.Type]bool{}}
	for k, synced := range syncedKeys {
		goType := k.objectType()
		if others, ok := result.Synced[goType]; ok {
			synced = synced && others
		}
		result.Synced[goType] = synced
	}
	return result
}

func (s sharedInformerFactory) ForResource(gvr schema.GroupVersionResource) (informers.GenericInformer, error) {
	generic, err := s.f.ForResource(gvr)
	if err != nil {
		return nil, err // and no interface with an empty Resource in it
	}
	return generic, nil
}

// InformerFor returns the informer of obj's type. If there is none yet, newFunc makes it, as its
// caller expects. The informer keeps a transform of its own, unless the factory has one. An
// informer of a type that is not client-go's stays until Shutdown, because Forget takes a resource.
// The factory can stop an informer that is not ours only if Start runs it.
func (s sharedInformerFactory) InformerFor(obj runtime.Object,
	newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	k := keyOf(obj)
	made, _ := s.f.informerFor(k, func() (cache.SharedIndexInformer, error) {
		made := newFunc(s.f.client, s.f.options.resync(k.resource))
		if transform := s.f.options.transform(kinds()[k.resource]); transform != nil {
			_ = made.SetTransform(transform) // fails if newFunc has started the informer: then it is too late
		}
		return made, nil
	})
	return made
}

// A groupFactory is the factory that client-go's groups, such as Core(), ask for informers. It
// makes informers of ours, and does not call the functions with which the groups would make
// client-go's.
type groupFactory struct{ sharedInformerFactory }

func (g groupFactory) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	made, err := g.f.ForResource(keyOf(obj).resource)
	if err != nil {
		panic(err) // cannot happen: client-go has a Go type for each resource of its groups
	}
	return made.Informer()
}

// group makes one of client-go's groups, with the informers of the factory.
func group[G any](s sharedInformerFactory, newGroup func(internalinterfaces.SharedInformerFactory, string,
	internalinterfaces.TweakListOptionsFunc) G) G {
	return newGroup(groupFactory{s}, s.f.options.Namespace, s.f.options.TweakListOptions)
}

func (s sharedInformerFactory) Admissionregistration() admissionregistration.Interface {
	return group(s, admissionregistration.New)
}
func (s sharedInformerFactory) Internal() apiserverinternal.Interface {
	return group(s, apiserverinternal.New)
}
func (s sharedInformerFactory) Apps() apps.Interface               { return group(s, apps.New) }
func (s sharedInformerFactory) Autoscaling() autoscaling.Interface { return group(s, autoscaling.New) }
func (s sharedInformerFactory) Batch() batch.Interface             { return group(s, batch.New) }
func (s sharedInformerFactory) Certificates() certificates.Interface {
	return group(s, certificates.New)
}
func (s sharedInformerFactory) Coordination() coordination.Interface {
	return group(s, coordination.New)
}
func (s sharedInformerFactory) Core() core.Interface               { return group(s, core.New) }
func (s sharedInformerFactory) Discovery() discovery.Interface     { return group(s, discovery.New) }
func (s sharedInformerFactory) Events() events.Interface           { return group(s, events.New) }
func (s sharedInformerFactory) Extensions() extensions.Interface   { return group(s, extensions.New) }
func (s sharedInformerFactory) Flowcontrol() flowcontrol.Interface { return group(s, flowcontrol.New) }
func (s sharedInformerFactory) Lifecycle() lifecycle.Interface     { return group(s, lifecycle.New) }
func (s sharedInformerFactory) Networking() networking.Interface   { return group(s, networking.New) }
func (s sharedInformerFactory) Node() node.Interface               { return group(s, node.New) }
func (s sharedInformerFactory) Policy() policy.Interface           { return group(s, policy.New) }
func (s sharedInformerFactory) Rbac() rbac.Interface               { return group(s, rbac.New) }
func (s sharedInformerFactory) Resource() resource.Interface       { return group(s, resource.New) }
func (s sharedInformerFactory) Scheduling() scheduling.Interface   { return group(s, scheduling.New) }
func (s sharedInformerFactory) Storage() storage.Interface         { return group(s, storage.New) }
func (s sharedInformerFactory) Storagemigration() storagemigration.Interface {
	return group(s, storagemigration.New)
}
