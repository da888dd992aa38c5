// Standing in for client-go's factory.

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

// ClientGo returns the factory as client-go's interface, for a controller that
// wants one. Its informers are this factory's.
func (f *Factory) ClientGo() informers.SharedInformerFactory { return standIn{f} }

type standIn struct{ f *Factory }

func (s standIn) Start(stop <-chan struct{})           { s.StartWithContext(wait.ContextForChannel(stop)) }
func (s standIn) StartWithContext(ctx context.Context) { s.f.Start(ctx) }
func (s standIn) Shutdown()                            { s.f.Shutdown() }
func (s standIn) InformerName() *cache.InformerName    { return s.f.options.InformerName }

func (s standIn) WaitForCacheSync(stop <-chan struct{}) map[reflect.Type]bool {
	return s.WaitForCacheSyncWithContext(wait.ContextForChannel(stop)).Synced
}

// WaitForCacheSyncWithContext says of each Go type whether all of its informers
// have synced: those of the dynamic client have one type in common.
func (s standIn) WaitForCacheSyncWithContext(ctx context.Context) cache.SyncResult {
	synced, err := s.f.waitForCacheSync(ctx)
	result := cache.SyncResult{Err: err, Synced: map[reflect.Type]bool{}}
	for k, has := range synced {
		goType := k.objectType()
		others, known := result.Synced[goType]
		result.Synced[goType] = has && (others || !known)
	}
	return result
}

func (s standIn) ForResource(resource schema.GroupVersionResource) (informers.GenericInformer, error) {
	asked, err := s.f.ForResource(resource)
	if err != nil {
		return nil, err
	}
	return asked, nil
}

// InformerFor returns the informer of obj's type. If there is none yet, newFunc
// makes it, as its caller expects. Its own transform stays, unless the factory
// has one. For a type that is not client-go's, Forget cannot name it: it stays
// until Shutdown. An informer that is not ours can be stopped by the factory only if
// Start has run it.
func (s standIn) InformerFor(obj runtime.Object, newFunc internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	k := keyOf(obj)
	made, _ := s.f.informerFor(k, func() (cache.SharedIndexInformer, error) {
		made := newFunc(s.f.client, s.f.resync(k.resource))
		if transform := s.f.transform(kinds()[k.resource]); transform != nil {
			_ = made.SetTransform(transform) // refused if it runs already: then it is too late
		}
		return made, nil
	})
	return made
}

// ours is what client-go's groups are given for a factory: the functions that
// they would make informers with are of client-go, and are not called.
type ours struct{ standIn }

func (o ours) InformerFor(obj runtime.Object, _ internalinterfaces.NewInformerFunc) cache.SharedIndexInformer {
	made, err := o.f.ForResource(keyOf(obj).resource)
	if err != nil {
		panic(err) // client-go has a type for it, or it would have no group for it
	}
	return made.Informer()
}

// group makes one of client-go's groups out of the factory.
func group[G any](s standIn, newGroup func(internalinterfaces.SharedInformerFactory, string,
	internalinterfaces.TweakListOptionsFunc) G) G {
	return newGroup(ours{s}, s.f.options.Namespace, s.f.options.Tweak)
}

func (s standIn) Admissionregistration() admissionregistration.Interface {
	return group(s, admissionregistration.New)
}
func (s standIn) Internal() apiserverinternal.Interface { return group(s, apiserverinternal.New) }
func (s standIn) Apps() apps.Interface                  { return group(s, apps.New) }
func (s standIn) Autoscaling() autoscaling.Interface    { return group(s, autoscaling.New) }
func (s standIn) Batch() batch.Interface                { return group(s, batch.New) }
func (s standIn) Certificates() certificates.Interface  { return group(s, certificates.New) }
func (s standIn) Coordination() coordination.Interface  { return group(s, coordination.New) }
func (s standIn) Core() core.Interface                  { return group(s, core.New) }
func (s standIn) Discovery() discovery.Interface        { return group(s, discovery.New) }
func (s standIn) Events() events.Interface              { return group(s, events.New) }
func (s standIn) Extensions() extensions.Interface      { return group(s, extensions.New) }
func (s standIn) Flowcontrol() flowcontrol.Interface    { return group(s, flowcontrol.New) }
func (s standIn) Lifecycle() lifecycle.Interface        { return group(s, lifecycle.New) }
func (s standIn) Networking() networking.Interface      { return group(s, networking.New) }
func (s standIn) Node() node.Interface                  { return group(s, node.New) }
func (s standIn) Policy() policy.Interface              { return group(s, policy.New) }
func (s standIn) Rbac() rbac.Interface                  { return group(s, rbac.New) }
func (s standIn) Resource() resource.Interface          { return group(s, resource.New) }
func (s standIn) Scheduling() scheduling.Interface      { return group(s, scheduling.New) }
func (s standIn) Storage() storage.Interface            { return group(s, storage.New) }
func (s standIn) Storagemigration() storagemigration.Interface {
	return group(s, storagemigration.New)
}
