// A writer: it creates, updates and deletes objects, and at times creates one
// again at once under the same name.

package workload

import (
	"context"
	"fmt"
	"math/rand/v2"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"example.com/informer/scripts/harness/record"
)

type writer struct {
	workload         *Workload
	client           rest.Interface
	random           *rand.Rand
	configMaps, pods kind
	namespace        string
	prefix           string
	exists           map[string]bool // by resource and name, as far as the writer knows
}

// kind is a resource and how many names of it the writer has.
type kind struct {
	resource string
	names    int
	object   func(metav1.ObjectMeta) runtime.Object
}

func configMap(m metav1.ObjectMeta) runtime.Object {
	return &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"made": m.Annotations[stamp]}}
}

// pod returns a pod that nobody schedules: it stays as it is.
func pod(m metav1.ObjectMeta) runtime.Object {
	return &corev1.Pod{ObjectMeta: m, Spec: corev1.PodSpec{
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
		Containers:      []corev1.Container{{Name: "idle", Image: "none"}},
	}}
}

// change makes one change, or two if it replaces an object.
func (w *writer) change(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	k := w.configMaps
	if w.random.IntN(4) == 0 {
		k = w.pods
	}
	name := fmt.Sprintf("%s-%d", w.prefix, w.random.IntN(k.names))
	dice := w.random.IntN(10)
	switch {
	case !w.exists[k.resource+"/"+name]:
		w.create(ctx, k, name)
	case dice < 2:
		w.remove(ctx, k, name)
	case dice < 4:
		w.remove(ctx, k, name)
		w.create(ctx, k, name)
	default:
		w.update(ctx, k, name)
	}
}

// stamp is the annotation with the time on the writers' clock.
const stamp = "faults.informer.example.com/at"

// app is a value for the label app, which the informers index.
func (w *writer) app() string { return fmt.Sprintf("app-%d", w.random.IntN(10)) }

func (w *writer) create(ctx context.Context, k kind, name string) {
	object := k.object(metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"app": w.app()}, Annotations: map[string]string{stamp: w.workload.now()},
	})
	w.send(ctx, k, name, w.client.Post().Body(object), false)
}

func (w *writer) update(ctx context.Context, k kind, name string) {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q},"annotations":{%q:%q}}}`,
		w.app(), stamp, w.workload.now())
	w.send(ctx, k, name, w.client.Patch(types.MergePatchType).Name(name).Body(patch), false)
}

func (w *writer) remove(ctx context.Context, k kind, name string) {
	now := int64(0)
	w.send(ctx, k, name, w.client.Delete().Name(name).Body(&metav1.DeleteOptions{GracePeriodSeconds: &now}), true)
}

// send makes a change and logs it, or counts it as failed.
func (w *writer) send(ctx context.Context, k kind, name string, request *rest.Request, deleted bool) {
	id := k.resource + "/" + name
	answer, err := request.Resource(k.resource).Namespace(w.namespace).Do(ctx).Get()
	switch {
	case err == nil:
		change := record.Change{Key: w.namespace + "/" + name, Deleted: deleted}
		// The answer to a delete is the object or a status, depending on the kind.
		if status, ok := answer.(*metav1.Status); ok {
			change.UID = status.Details.UID
		} else {
			o := answer.(metav1.Object)
			change.UID, change.Version = o.GetUID(), o.GetResourceVersion()
		}
		w.workload.confirm(k.resource, change)
		w.exists[id] = !deleted
		return
	case apierrors.IsAlreadyExists(err): // an earlier try has succeeded after all
		w.exists[id] = true
	case apierrors.IsNotFound(err):
		w.exists[id] = false
	}
	w.workload.fail()
}
