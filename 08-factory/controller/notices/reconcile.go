// From a key to writes.

package notices

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/events"
	"k8s.io/klog/v2"
)

// The finalizer keeps a deleted notice until its copies are gone. The garbage collector deletes
// objects with an owner reference anyway. So this finalizer is only an example: use one for what the
// garbage collector does not delete.
const finalizer = "example.com/notices"

// byOwner is the index of Copies by the UID of their notice.
const byOwner = "owner"

// Indexers are the indexes that Reconciler.Copies must have.
var Indexers = cache.Indexers{byOwner: func(obj any) ([]string, error) {
	if owner := ownerOf(obj); owner != nil {
		return []string{string(owner.UID)}, nil
	}
	return nil, nil
}}

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
	ObservedGeneration int64              `json:"observedGeneration"` // the generation that the rest is about
	Copies             int                `json:"copies"`             // how many copies are as the spec wants them
	Conditions         []metav1.Condition `json:"conditions"`         // there is one: Ready
}

// A problem is the reason why a copy cannot be made. The next try would end in the same way, so the
// queue does not try again. The key comes again with the delete of the ConfigMap that has the name,
// with a change of the notice, or with the next start.
type problem struct{ reason, message string }

func (p *problem) Error() string { return p.message }

// invalid returns the problem that the API server finds a copy invalid (422), such as one with a name
// that is too long.
func invalid(name string, err error) *problem {
	return &problem{reason: "Invalid", message: fmt.Sprintf("the copy %s is refused: %v", name, err)}
}

// A Reconciler creates, updates and deletes copies until they are as the notices want them. It
// reads from the caches, and writes to the API server. It is exported, with Indexers and Namesake,
// so that it can also run in a manager of controller-runtime.
type Reconciler struct {
	Client   kubernetes.Interface
	Resource dynamic.ResourceInterface // writes the notices of a namespace
	Notices  cache.Store
	Copies   cache.Indexer // all ConfigMaps of the namespace, with Indexers
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
		return fmt.Errorf("reading the notice: %w", err) // the schema lets no such notice in
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
	return r.sync(ctx, &n, cached, copies)
}

// sync writes the copies that are not as the notice wants them, and the status. The error of one
// copy does not keep the others from being written. Events are about cached, the notice of the cache.
func (r *Reconciler) sync(ctx context.Context, n *notice, cached *unstructured.Unstructured,
	copies map[string]*corev1.ConfigMap) error {
	var errs []error // nil for a write that has succeeded
	var problems []*problem
	right := 0 // how many copies in the cache are as the spec wants them
	for i := range n.Spec.Copies {
		name := fmt.Sprintf("%s-%d", n.Name, i)
		existing := copies[name]
		delete(copies, name) // the copies that are left after this loop are surplus
		var err error
		switch {
		case existing == nil:
			err = r.create(ctx, n, cached, name)
		case !maps.Equal(existing.Data, n.data()):
			err = r.update(ctx, n, cached, existing)
		default: // also for a copy that is being deleted: its last event adds the key again
			right++
		}
		if p, ok := errors.AsType[*problem](err); ok {
			problems = append(problems, p)
		} else {
			errs = append(errs, err)
		}
	}
	for _, surplus := range copies {
		errs = append(errs, r.delete(ctx, surplus))
	}
	errs = append(errs, r.updateStatus(ctx, n, cached, right, problems))
	return utilerrors.NewAggregate(errs) // nil if all of them are nil
}

// create creates a copy, unless a ConfigMap of somebody else has its name.
func (r *Reconciler) create(ctx context.Context, n *notice, cached runtime.Object, name string) error {
	obj, exists, err := r.Copies.GetByKey(cache.NewObjectName(n.Namespace, name).String())
	if err != nil {
		return err
	}
	// If it is a copy of this notice, the cache has received it since Reconcile looked: then Create fails.
	if exists && !metav1.IsControlledBy(obj.(*corev1.ConfigMap), n) {
		return &problem{reason: "NameTaken", message: "the ConfigMap " + name + " is not a copy of this notice"}
	}
	configMap := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Name:      name, // always the same, so that the server refuses a second one
			Namespace: n.Namespace,
			OwnerReferences: []metav1.OwnerReference{
				*metav1.NewControllerRef(n, Resource.GroupVersion().WithKind(Kind)),
			},
		},
		Data: n.data(),
	}
	created, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Create(ctx, configMap, metav1.CreateOptions{})
	if apierrors.IsInvalid(err) {
		return invalid(name, err)
	}
	if err != nil { // AlreadyExists: when Reconcile looked, the cache did not have this ConfigMap yet
		return fmt.Errorf("creating the copy %s: %w", name, err)
	}
	klog.FromContext(ctx).Info("Created", "copy", name)
	// Without created, the related object, client-go's own sink would merge the Events of two copies.
	r.Recorder.Eventf(cached, created, corev1.EventTypeNormal, "Created", "Create", "created the copy %s", name)
	return nil
}

// update writes the notice's data into a copy.
func (r *Reconciler) update(ctx context.Context, n *notice, cached runtime.Object, existing *corev1.ConfigMap) error {
	changed := existing.DeepCopy()
	changed.Data = n.data()
	// The update has the version of the cached object. If the server has a newer version, it returns a conflict.
	updated, err := r.Client.CoreV1().ConfigMaps(n.Namespace).Update(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsInvalid(err) {
		return invalid(existing.Name, err)
	}
	if err != nil {
		return fmt.Errorf("updating the copy %s: %w", existing.Name, err)
	}
	klog.FromContext(ctx).Info("Updated", "copy", existing.Name)
	r.Recorder.Eventf(cached, updated, corev1.EventTypeNormal, "Updated", "Update", "updated the copy %s", updated.Name)
	return nil
}

// delete deletes a copy, unless it is being deleted already. The API server refuses to delete a newer
// ConfigMap of the same name, and one that has changed since the cache saw it: it may have another
// owner by now, or none. There is no Event: nobody wants this copy.
func (r *Reconciler) delete(ctx context.Context, surplus *corev1.ConfigMap) error {
	if surplus.DeletionTimestamp != nil {
		return nil
	}
	err := r.Client.CoreV1().ConfigMaps(surplus.Namespace).Delete(ctx, surplus.Name, metav1.DeleteOptions{
		Preconditions: &metav1.Preconditions{UID: &surplus.UID, ResourceVersion: &surplus.ResourceVersion},
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

// updateStatus writes the status if it has changed: a request that changes nothing makes no event,
// but it is not worth its time. The condition Ready is about the copies that the spec wants, not about surplus ones.
func (r *Reconciler) updateStatus(ctx context.Context, n *notice, cached *unstructured.Unstructured, right int,
	problems []*problem) error {
	ready := metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, ObservedGeneration: n.Generation}
	switch {
	case len(problems) > 0:
		ready.Reason, ready.Message = problems[0].reason, problems[0].message
	case right < n.Spec.Copies:
		ready.Reason, ready.Message = "Writing", "some copies are not written yet"
	default:
		ready.Status, ready.Reason, ready.Message = metav1.ConditionTrue, "Written", "all copies are written"
	}
	// SetStatusCondition changes its slice. Without a clone, n.Status would change, too, and be equal.
	now := status{ObservedGeneration: n.Generation, Copies: right, Conditions: slices.Clone(n.Status.Conditions)}
	meta.SetStatusCondition(&now.Conditions, ready) // the time changes only with the condition's status
	if equality.Semantic.DeepEqual(n.Status, now) {
		return nil
	}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&now)
	if err != nil {
		return err
	}
	written := cached.DeepCopy()
	written.Object["status"] = object
	if _, err := r.Resource.UpdateStatus(ctx, written, metav1.UpdateOptions{}); err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	before := meta.FindStatusCondition(n.Status.Conditions, ready.Type)
	isNew := before == nil || before.Reason != ready.Reason || before.Message != ready.Message
	if isNew && len(problems) > 0 { // once for each problem, and not for each change of the spec
		r.Recorder.Eventf(cached, nil, corev1.EventTypeWarning, ready.Reason, "Reconcile", "%s", ready.Message)
	}
	return nil
}

// finalize deletes the copies of a notice that is being deleted. When the cache has no copies any
// more, it removes the finalizer, so that the API server removes the notice. A copy that the cache
// does not have yet is left to the garbage collector of Kubernetes, because its owner is gone.
func (r *Reconciler) finalize(ctx context.Context, cached *unstructured.Unstructured,
	copies map[string]*corev1.ConfigMap) error {
	if !slices.Contains(cached.GetFinalizers(), finalizer) {
		return nil // this controller has let go of it, or has never made a copy
	}
	// After "kubectl delete --cascade=orphan", the notice has a finalizer of the garbage collector,
	// which removes the owner references of the copies. The copies have to stay.
	if !slices.Contains(cached.GetFinalizers(), metav1.FinalizerOrphanDependents) {
		var errs []error
		for _, existing := range copies {
			errs = append(errs, r.delete(ctx, existing))
		}
		if len(copies) > 0 {
			return utilerrors.NewAggregate(errs) // if nil, the events of these deletes add the key again
		}
	}
	changed := cached.DeepCopy()
	changed.SetFinalizers(slices.DeleteFunc(changed.GetFinalizers(), func(f string) bool { return f == finalizer }))
	_, err := r.Resource.Update(ctx, changed, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err == nil {
		klog.FromContext(ctx).Info("Removed finalizer")
	}
	return err
}
