// Package notices is a small, complete controller. You can start your own from a copy of it: it
// needs client-go and nothing else. A Notice has a text and a number of copies. Each copy is a
// ConfigMap.
package notices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/klog/v2"
)

// Resource is the custom resource that the controller reconciles.
var Resource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "notices"}

const (
	Kind      = "Notice"              // the kind of the objects of Resource
	finalizer = "example.com/notices" // keeps a deleted notice until its copies are gone
	workers   = 2                     // how many keys are reconciled at the same time
	byOwner   = "owner"               // the index of Copies by the UID of their notice
)

// Indexers are the indexes that Reconciler.Copies must have.
var Indexers = cache.Indexers{byOwner: func(obj any) ([]string, error) {
	if owner := ownerOf(obj); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}}

// NewInformer makes an informer. cache.NewSharedIndexInformerWithOptions is such a function.
type NewInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// Run runs the controller until ctx ends. It returns when the workers have finished the keys that
// they have begun.
func Run(ctx context.Context, config *rest.Config, namespace string, newInformer NewInformer) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	dynamicClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return fmt.Errorf("making a dynamic client: %w", err)
	}
	resource := dynamicClient.Resource(Resource).Namespace(namespace)
	notices := newInformer(listWatch(resource, dynamicClient), &unstructured.Unstructured{},
		cache.SharedIndexInformerOptions{ObjectDescription: Resource.String()})
	copies := newInformer(
		cache.NewListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", namespace, fields.Everything()),
		&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{Indexers: Indexers})

	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: client.EventsV1()})
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx)) // ends after the workers
	defer stopRecording()
	defer broadcaster.Shutdown()
	if err := broadcaster.StartRecordingToSinkWithContext(recording); err != nil {
		return fmt.Errorf("recording events: %w", err)
	}
	c := &controller{
		Reconciler: Reconciler{
			Client:   client,
			Resource: resource,
			Notices:  notices.GetStore(),
			Copies:   copies.GetIndexer(),
			Recorder: broadcaster.NewRecorder(scheme.Scheme, "notices"),
		},
		queue: workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
	}
	return c.run(ctx, notices, copies)
}

// listWatch lists and watches notices. The client says whether the server can stream a list over a
// watch. A fake client cannot.
func listWatch(notices dynamic.ResourceInterface, client dynamic.Interface) cache.ListerWatcher {
	return cache.ToListWatcherWithWatchListSemantics(&cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, options metav1.ListOptions) (runtime.Object, error) {
			return notices.List(ctx, options)
		},
		WatchFuncWithContext: func(ctx context.Context, options metav1.ListOptions) (watch.Interface, error) {
			return notices.Watch(ctx, options)
		},
	}, client)
}

// A controller calls its Reconciler with the keys of notices that may have to be reconciled.
type controller struct {
	Reconciler
	queue workqueue.TypedRateLimitingInterface[string]
}

// run starts the informers and the workers, and waits for their end.
func (c *controller) run(ctx context.Context, notices, copies cache.SharedIndexInformer) error {
	noticeRegistration, err := notices.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, newObj any) { c.enqueue(newObj) },
		DeleteFunc: c.enqueue,
	})
	if err != nil {
		return err
	}
	copyRegistration, err := copies.AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool { return ownerOf(obj) != nil }, // no ConfigMaps that are not copies
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
		return err
	}

	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { notices.RunWithContext(ctx) })
	running.Go(func() { copies.RunWithContext(ctx) })
	// Before the sync the stores are not complete: an empty store looks like a namespace without
	// copies.
	if cache.WaitFor(ctx, "", noticeRegistration.HasSyncedChecker(), copyRegistration.HasSyncedChecker()) {
		klog.FromContext(ctx).Info("The caches have synced")
		for range workers {
			running.Go(func() {
				for c.processNext(ctx) {
				}
			})
		}
	}
	<-ctx.Done()
	c.queue.ShutDownWithDrain() // returns when no worker has a key
	c.queue.ShutDown()          // ends the goroutine that adds delayed keys
	return nil
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

// enqueueOwner adds the key of a copy's notice to the queue.
func (c *controller) enqueueOwner(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	c.queue.Add(cache.NewObjectName(obj.(metav1.Object).GetNamespace(), ownerOf(obj).Name).String())
}

// ownerOf returns the reference to the notice that obj is a copy of, or nil.
func ownerOf(obj any) *metav1.OwnerReference {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj
	}
	object, ok := obj.(metav1.Object)
	if !ok {
		return nil
	}
	owner := metav1.GetControllerOf(object)
	if owner == nil || owner.Kind != Kind || owner.APIVersion != Resource.GroupVersion().String() {
		return nil
	}
	return owner
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
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	switch err := c.Reconcile(klog.NewContext(ctx, logger), key); {
	case err == nil:
		c.queue.Forget(key) // the next failure of this key counts as its first
		return true
	case apierrors.IsConflict(err):
		logger.V(2).Info("The cache was behind, trying again", "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Reconciling failed, trying again", "notice", key)
	}
	c.queue.AddRateLimited(key)
	return true
}

// A notice has the fields of a Notice that the controller reads.
type notice struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Text   string `json:"text"`
		Copies int    `json:"copies"`
	} `json:"spec"`
	Status status `json:"status"`
}

// data returns the data that each copy of the notice must have.
func (n *notice) data() map[string]string { return map[string]string{"text": n.Spec.Text} }

// A status is the status of a Notice.
type status struct {
	ObservedGeneration int64 `json:"observedGeneration"` // the generation of the spec that Copies refers to
	Copies             int   `json:"copies"`             // how many copies are as the spec wants them
}

// A Reconciler creates, updates and deletes copies until they are as the notices want them. It
// reads from the caches, and writes to the API server.
type Reconciler struct {
	Client   kubernetes.Interface
	Resource dynamic.ResourceInterface // writes the notices of a namespace
	Notices  cache.Store
	Copies   cache.Indexer // has Indexers
	Recorder events.EventRecorder
}

// Reconcile compares the copies that a notice wants with the copies that exist, and writes the
// difference. It does not know which event has added the key to the queue, and does not need to.
func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	obj, exists, err := r.Notices.GetByKey(key)
	if err != nil || !exists {
		return err // for a notice that is gone, finalize has done everything
	}
	cached := obj.(*unstructured.Unstructured)
	var n notice
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(cached.Object, &n); err != nil {
		return fmt.Errorf("reading the notice: %w", err)
	}
	found, err := r.Copies.ByIndex(byOwner, string(n.UID))
	if err != nil {
		return err
	}
	copies := map[string]*corev1.ConfigMap{}
	for _, obj := range found {
		copies[obj.(*corev1.ConfigMap).Name] = obj.(*corev1.ConfigMap)
	}
	if n.DeletionTimestamp != nil {
		return r.finalize(ctx, cached, copies)
	}
	if !slices.Contains(n.Finalizers, finalizer) {
		changed := cached.DeepCopy() // the cache is shared: never change its objects
		changed.SetFinalizers(append(changed.GetFinalizers(), finalizer))
		_, err := r.Resource.Update(ctx, changed, metav1.UpdateOptions{})
		return err // the event of this update adds the key again
	}

	var errs []error
	right := 0 // how many copies are as the spec wants them
	for i := range n.Spec.Copies {
		name := fmt.Sprintf("%s-%d", n.Name, i)
		existing := copies[name]
		delete(copies, name)
		switch {
		case existing == nil:
			errs = append(errs, r.create(ctx, &n, cached, name))
		case !maps.Equal(existing.Data, n.data()):
			errs = append(errs, r.update(ctx, &n, cached, existing))
		default:
			right++
		}
	}
	for _, surplus := range copies {
		errs = append(errs, r.delete(ctx, surplus))
	}
	errs = append(errs, r.updateStatus(ctx, &n, cached, status{ObservedGeneration: n.Generation, Copies: right}))
	return errors.Join(errs...) // the error of one copy has not kept the others from being written
}

// create creates a copy.
func (r *Reconciler) create(ctx context.Context, n *notice, cached runtime.Object, name string) error {
	kind := Resource.GroupVersion().WithKind(Kind)
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name, // always the same, so that the server refuses a second one
			Namespace:       n.Namespace,
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(n, kind)},
		},
		Data: n.data(),
	}
	_, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return r.foreign(ctx, n, cached, name)
	}
	if err != nil {
		return fmt.Errorf("creating the copy %s: %w", name, err)
	}
	klog.FromContext(ctx).Info("Created", "copy", name)
	r.Recorder.Eventf(cached, nil, corev1.EventTypeNormal, "Created", "Create", "created the copy %s", name)
	return nil
}

// foreign looks at a ConfigMap that has the name of a copy, but is not among the cached copies of
// the notice. Either it is a copy, and the cache is behind; or it belongs to somebody else, which
// is an error.
func (r *Reconciler) foreign(ctx context.Context, n *notice, cached runtime.Object, name string) error {
	existing, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Get(ctx, name, metav1.GetOptions{}) // not from the cache
	if err != nil {
		return fmt.Errorf("looking at the ConfigMap %s: %w", name, err)
	}
	if metav1.IsControlledBy(existing, n) {
		return nil // its event has not come yet, and will add the key again
	}
	r.Recorder.Eventf(cached, nil, corev1.EventTypeWarning, "NameTaken", "Create",
		"the ConfigMap %s is not a copy of this notice", name)
	return fmt.Errorf("the ConfigMap %s is not a copy of this notice: rename one of them", name)
}

// update writes the notice's data into a copy.
func (r *Reconciler) update(ctx context.Context, n *notice, cached runtime.Object, existing *corev1.ConfigMap) error {
	changed := existing.DeepCopy()
	changed.Data = n.data()
	// The update has the version of the cached object. If the server has a newer version, it returns a conflict.
	_, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("updating the copy %s: %w", existing.Name, err)
	}
	klog.FromContext(ctx).Info("Updated", "copy", existing.Name)
	r.Recorder.Eventf(cached, nil, corev1.EventTypeNormal, "Updated", "Update", "updated the copy %s", existing.Name)
	return nil
}

// delete deletes a copy, unless it is being deleted already.
func (r *Reconciler) delete(ctx context.Context, surplus *corev1.ConfigMap) error {
	if surplus.DeletionTimestamp != nil {
		return nil
	}
	err := r.Client.CoreV1().ConfigMaps(surplus.Namespace).Delete(ctx, surplus.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &surplus.UID}, // not a newer ConfigMap of the same name
	})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("deleting the copy %s: %w", surplus.Name, err)
	}
	klog.FromContext(ctx).Info("Deleted", "copy", surplus.Name)
	return nil
}

// finalize deletes the copies of a notice that is being deleted. When the cache has no copies any
// more, it removes the finalizer, so that the API server removes the notice. A copy that the cache
// does not have yet is left to the garbage collector of Kubernetes, because its owner is gone.
func (r *Reconciler) finalize(ctx context.Context, cached *unstructured.Unstructured,
	copies map[string]*corev1.ConfigMap) error {
	if !slices.Contains(cached.GetFinalizers(), finalizer) {
		return nil
	}
	for _, existing := range copies {
		if err := r.delete(ctx, existing); err != nil {
			return err
		}
	}
	if len(copies) > 0 {
		return nil // the events of these deletes add the key again
	}
	changed := cached.DeepCopy()
	changed.SetFinalizers(slices.DeleteFunc(changed.GetFinalizers(), func(f string) bool { return f == finalizer }))
	_, err := r.Resource.Update(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		klog.FromContext(ctx).Info("Let go")
	}
	return err
}

// updateStatus writes the status if it has changed. It does not write an equal status, because the
// event of each write adds the key again.
func (r *Reconciler) updateStatus(ctx context.Context, n *notice, cached *unstructured.Unstructured, now status) error {
	if equality.Semantic.DeepEqual(n.Status, now) {
		return nil
	}
	changed := cached.DeepCopy()
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&now)
	if err != nil {
		return err
	}
	changed.Object["status"] = object
	_, err = r.Resource.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	return err
}
