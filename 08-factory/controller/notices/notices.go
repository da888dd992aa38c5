// Package notices is a small controller, complete, to start your own from: it needs
// client-go and nothing else. A Notice has a text and a number of copies; each copy
// is a ConfigMap.
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

// Resource is what the controller is for, and Kind its objects' kind.
var Resource = schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "notices"}

const (
	Kind      = "Notice"
	finalizer = "example.com/notices" // a notice goes only after its copies
	workers   = 2
	byOwner   = "owner" // an index of Copies: by the UID of their notice
)

// Indexers are what the Reconciler needs of Copies.
var Indexers = cache.Indexers{byOwner: func(obj any) ([]string, error) {
	if owner := ownerOf(obj); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}}

// NewInformer makes an informer. cache.NewSharedIndexInformerWithOptions is one.
type NewInformer = func(cache.ListerWatcher, runtime.Object, cache.SharedIndexInformerOptions) cache.SharedIndexInformer

// Run runs the controller until ctx ends, and until what its workers have begun is done.
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
	recording, stopRecording := context.WithCancel(context.WithoutCancel(ctx)) // longer than the workers
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

// listWatch asks for notices. The client says whether it can stream a list: a fake cannot.
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

// A controller calls a Reconciler with the keys of notices about which something
// may have changed.
type controller struct {
	Reconciler
	queue workqueue.TypedRateLimitingInterface[string]
}

func (c *controller) run(ctx context.Context, notices, copies cache.SharedIndexInformer) error {
	ofNotices, err := notices.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    c.enqueue,
		UpdateFunc: func(_, newObj any) { c.enqueue(newObj) },
		DeleteFunc: c.enqueue,
	})
	if err != nil {
		return err
	}
	ofCopies, err := copies.AddEventHandler(cache.FilteringResourceEventHandler{
		FilterFunc: func(obj any) bool { return ownerOf(obj) != nil }, // other ConfigMaps are not for it
		Handler: cache.ResourceEventHandlerFuncs{
			AddFunc:    c.enqueueOwner,
			UpdateFunc: func(oldObj, newObj any) { c.enqueueOwner(oldObj); c.enqueueOwner(newObj) }, // it may move
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
	// Until then the stores are not complete, and an empty one looks like a namespace without copies.
	if cache.WaitFor(ctx, "", ofNotices.HasSyncedChecker(), ofCopies.HasSyncedChecker()) {
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
	c.queue.ShutDown()          // ends the goroutine that brings back keys later
	return nil
}

func (c *controller) enqueue(obj any) {
	key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	c.queue.Add(key)
}

// enqueueOwner goes from a copy to its notice.
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
		return true // what waits is not begun; the next run finds it in its lists
	}
	logger := klog.LoggerWithValues(klog.FromContext(ctx), "notice", key)
	// What has begun is finished, even if ctx ends meanwhile.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	switch err := c.Reconcile(klog.NewContext(ctx, logger), key); {
	case err == nil:
		c.queue.Forget(key) // its next failure is its first
		return true
	case apierrors.IsConflict(err):
		logger.V(2).Info("The cache was behind, trying again", "err", err)
	default:
		utilruntime.HandleErrorWithContext(ctx, err, "Reconciling failed, trying again", "notice", key)
	}
	c.queue.AddRateLimited(key)
	return true
}

// A notice is what the controller reads of a Notice.
type notice struct {
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Text   string `json:"text"`
		Copies int    `json:"copies"`
	} `json:"spec"`
	Status status `json:"status"`
}

// data is what each copy of the notice has.
func (n *notice) data() map[string]string { return map[string]string{"text": n.Spec.Text} }

type status struct {
	ObservedGeneration int64 `json:"observedGeneration"` // of the spec that the rest is about
	Copies             int   `json:"copies"`             // that are as the spec wants them
}

// A Reconciler makes ConfigMaps be what notices ask for. It reads from the caches,
// and writes to the API server.
type Reconciler struct {
	Client   kubernetes.Interface
	Resource dynamic.ResourceInterface // the notices of a namespace, to write
	Notices  cache.Store
	Copies   cache.Indexer // with Indexers
	Recorder events.EventRecorder
}

// Reconcile compares what a notice asks for with what there is, and changes what
// differs. It does not know which event brought it here, and does not need to.
func (r *Reconciler) Reconcile(ctx context.Context, key string) error {
	obj, exists, err := r.Notices.GetByKey(key)
	if err != nil || !exists {
		return err // a notice that is gone: see finalize
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
		changed := cached.DeepCopy() // the cache is shared: never change what it holds
		changed.SetFinalizers(append(changed.GetFinalizers(), finalizer))
		_, err := r.Resource.Update(ctx, changed, metav1.UpdateOptions{})
		return err // the update brings it back here
	}

	right, failed := 0, []error(nil)
	for i := range n.Spec.Copies {
		name := fmt.Sprintf("%s-%d", n.Name, i)
		existing := copies[name]
		delete(copies, name)
		switch {
		case existing == nil:
			failed = append(failed, r.create(ctx, &n, cached, name))
		case !maps.Equal(existing.Data, n.data()):
			failed = append(failed, r.update(ctx, &n, cached, existing))
		default:
			right++
		}
	}
	for _, surplus := range copies {
		failed = append(failed, r.delete(ctx, surplus))
	}
	failed = append(failed, r.updateStatus(ctx, &n, cached, status{ObservedGeneration: n.Generation, Copies: right}))
	return errors.Join(failed...) // one copy that cannot be made does not keep the others from it
}

func (r *Reconciler) create(ctx context.Context, n *notice, cached runtime.Object, name string) error {
	kind := Resource.GroupVersion().WithKind(Kind)
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:            name, // always the same: nobody makes the same copy twice
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

// foreign looks at a ConfigMap that has a copy's name, and that the cache does not
// show as one: it is the notice's own, and the cache is behind, or somebody else's.
func (r *Reconciler) foreign(ctx context.Context, n *notice, cached runtime.Object, name string) error {
	existing, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Get(ctx, name, metav1.GetOptions{}) // past the cache
	if err != nil {
		return fmt.Errorf("looking at the ConfigMap %s: %w", name, err)
	}
	if metav1.IsControlledBy(existing, n) {
		return nil // its event is on the way, and brings the notice back here
	}
	r.Recorder.Eventf(cached, nil, corev1.EventTypeWarning, "NameTaken", "Create",
		"the ConfigMap %s is not a copy of this notice", name)
	return fmt.Errorf("the ConfigMap %s is not a copy of this notice: rename one of them", name)
}

func (r *Reconciler) update(ctx context.Context, n *notice, cached runtime.Object, existing *corev1.ConfigMap) error {
	changed := existing.DeepCopy()
	changed.Data = n.data()
	// With the version that the cache has: if the server has a newer one, this is a conflict.
	_, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	if err != nil {
		return fmt.Errorf("updating the copy %s: %w", existing.Name, err)
	}
	klog.FromContext(ctx).Info("Updated", "copy", existing.Name)
	r.Recorder.Eventf(cached, nil, corev1.EventTypeNormal, "Updated", "Update", "updated the copy %s", existing.Name)
	return nil
}

func (r *Reconciler) delete(ctx context.Context, surplus *corev1.ConfigMap) error {
	if surplus.DeletionTimestamp != nil {
		return nil
	}
	err := r.Client.CoreV1().ConfigMaps(surplus.Namespace).Delete(ctx, surplus.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &surplus.UID}, // this one, and no other of that name
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

// finalize removes the copies of a notice that is being deleted, and lets it go when
// the cache shows none. A copy that the cache does not show yet is left to the garbage
// collector of Kubernetes: it has an owner that is gone.
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
		return nil // their deletion brings the notice back here
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

// updateStatus writes the status, if it has changed: each write is an event that
// brings the notice back here.
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
