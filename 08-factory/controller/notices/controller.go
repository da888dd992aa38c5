// From events to keys, and from keys to workers.

package notices

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// A controller calls its Reconciler with the keys of notices that may have to be reconciled.
type controller struct {
	Reconciler
	queue   workqueue.TypedRateLimitingInterface[string]
	workers int
	lease   *lease      // nil: there is one replica only
	synced  atomic.Bool // the caches have synced
}

// run starts the informers and the workers, and waits for their end.
func (c *controller) run(ctx context.Context, notices, copies cache.SharedIndexInformer) error {
	defer c.queue.ShutDown() // as work does, which may never be called
	synced, err := c.addHandlers(notices, copies)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	defer running.Wait()
	defer stop() // ends the informers, even if run returns because the Lease is lost
	running.Go(func() { notices.RunWithContext(ctx) })
	running.Go(func() { copies.RunWithContext(ctx) })

	// Before the sync the stores are not complete: an empty store looks like a namespace without
	// copies. The empty string says that WaitFor logs nothing.
	if !cache.WaitFor(ctx, "", synced...) {
		return nil // ctx has ended
	}
	klog.FromContext(ctx).Info("The caches have synced")
	c.synced.Store(true)
	if c.lease == nil {
		c.work(ctx)
		return nil
	}
	// A replica that waits for the Lease has caches that are up to date, and all keys in its queue.
	return c.lease.hold(ctx, c.work)
}

// addHandlers adds the event handlers to both informers. It returns what to wait for until the
// handlers have seen all objects of the first lists.
func (c *controller) addHandlers(notices, copies cache.SharedIndexInformer) ([]cache.DoneChecker, error) {
	noticeRegistration, err := notices.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, newObj any) { c.enqueue(newObj) },
		DeleteFunc: c.enqueue,
	})
	if err != nil {
		return nil, err
	}
	copyRegistration, err := copies.AddEventHandler(cache.FilteringResourceEventHandler{
		// The handler sees only copies. For a ConfigMap that becomes a copy it gets an add, and for one
		// that is not a copy any more a delete, with the old object.
		FilterFunc: func(obj any) bool { return ownerOf(obj) != nil },
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: c.enqueueOwner,
			UpdateFunc: func(oldObj, newObj any) { // the update may have changed the owner
				c.enqueueOwner(oldObj)
				c.enqueueOwner(newObj)
			},
			DeleteFunc: c.enqueueOwner,
		},
	})
	if err != nil {
		return nil, err
	}
	// A second handler of the same informer sees all ConfigMaps: one that is not a copy may take the
	// name of a copy, and its delete makes the name free again. So may a copy of another notice, or one
	// that has lost its owner. An update does not change a name.
	nameRegistration, err := copies.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueueNamesake,
		DeleteFunc: c.enqueueNamesake,
	})
	if err != nil {
		return nil, err
	}
	return []cache.DoneChecker{noticeRegistration.HasSyncedChecker(), copyRegistration.HasSyncedChecker(),
		nameRegistration.HasSyncedChecker()}, nil
}

// enqueue adds the key of a notice to the queue.
func (c *controller) enqueue(obj any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	c.queue.Add(key)
}

// enqueueOwner adds the key of a copy's notice to the queue. The key has the name of the notice, not
// its UID: when the copies of an old notice are gone, a new notice of this name can make its own.
func (c *controller) enqueueOwner(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	// ownerOf is not nil, because of the filter in addHandlers.
	c.queue.Add(cache.NewObjectName(obj.(metav1.Object).GetNamespace(), ownerOf(obj).Name).String())
}

// ownerOf returns the reference to the notice that obj is a copy of, or nil. It does not compare the
// version of the API: a copy keeps the one with which it was made.
func ownerOf(obj any) *metav1.OwnerReference {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	object, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	owner := metav1.GetControllerOf(object)
	kind := schema.GroupKind{Group: Resource.Group, Kind: Kind}
	if owner == nil || schema.FromAPIVersionAndKind(owner.APIVersion, owner.Kind).GroupKind() != kind {
		return nil
	}
	return owner
}

// enqueueNamesake adds the key of the notice that has a copy of this name, for a ConfigMap that is
// not a copy of this notice.
func (c *controller) enqueueNamesake(obj any) {
	notice := Namesake(obj)
	if owner := ownerOf(obj); owner != nil && owner.Name == notice.Name {
		return // enqueueOwner adds its key
	}
	// Most ConfigMaps belong to no notice. A notice that comes later has an event of its own.
	if _, exists, err := c.Notices.GetByKey(notice.String()); err == nil && exists {
		c.queue.Add(notice.String())
	}
}

// Namesake returns the notice whose copies have names like that of a ConfigMap: for picnic-0 it is
// picnic. It does not matter whether the ConfigMap is a copy, or whether there is such a notice.
func Namesake(obj any) cache.ObjectName {
	name, err := cache.DeletionHandlingObjectToName(obj) // a tombstone has a name, too
	if err != nil {
		return cache.ObjectName{}
	}
	// A name without a dash is not that of a copy. A key too many does no harm.
	if dash := strings.LastIndex(name.Name, "-"); dash >= 0 {
		name.Name = name.Name[:dash]
	}
	return name
}

// work reconciles keys until ctx ends. It returns when the workers have finished the keys that they
// have begun.
func (c *controller) work(ctx context.Context) {
	var working sync.WaitGroup
	defer working.Wait()
	for range c.workers {
		working.Go(func() {
			for c.processNext(ctx) {
			}
		})
	}
	<-ctx.Done()
	c.queue.ShutDown() // the workers end when the queue is empty
}

// processNext reconciles the next key. It returns false when the queue has shut down.
func (c *controller) processNext(ctx context.Context) bool {
	key, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(key)
	if ctx.Err() != nil {
		return true // the workers begin no new key; the first lists of the next run bring it again
	}
	logger := klog.LoggerWithValues(klog.FromContext(ctx), "notice", key)
	// Reconcile finishes what it has begun, even if the outer ctx ends meanwhile.
	ctx, cancel := c.writing(ctx)
	defer cancel()
	err := c.Reconcile(klog.NewContext(ctx, logger), key)
	if err == nil {
		c.queue.Forget(key) // the next failure of this key counts as its first
		return true
	}
	// Two errors say only that the cache was behind. They are not worth an error in the log, but an
	// error beside them is.
	if others := utilerrors.FilterOut(err, apierrors.IsConflict, apierrors.IsAlreadyExists); others != nil {
		utilruntime.HandleErrorWithContext(ctx, others, "Reconciling failed, trying again", "notice", key)
	} else {
		logger.V(2).Info("The cache was behind, trying again", "err", err)
	}
	c.queue.AddRateLimited(key)
	return true
}

// writing returns the context of a Reconcile that begins now. It ends in time, but not with ctx.
func (c *controller) writing(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.lease != nil {
		return c.lease.writing()
	}
	return context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
}
