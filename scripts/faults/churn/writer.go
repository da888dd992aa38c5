// One writer: it makes what is not there, changes what is, deletes it, and at
// times makes it again at once under the same name.

package churn

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

	"example.com/informer/scripts/faults/judge"
)

type writer struct {
	churn            *Churn
	client           rest.Interface
	random           *rand.Rand
	configMaps, pods kind
	namespace        string
	prefix           string
	alive            map[string]bool // by resource and name: what is there, as far as the writer knows
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

// pod is one that nobody schedules: it stays as it is.
func pod(m metav1.ObjectMeta) runtime.Object {
	return &corev1.Pod{ObjectMeta: m, Spec: corev1.PodSpec{
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
		Containers:      []corev1.Container{{Name: "idle", Image: "none"}},
	}}
}

// change makes one change, or two where something is replaced.
func (w *writer) change(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	k := w.configMaps
	if w.random.IntN(4) == 0 {
		k = w.pods
	}
	name := fmt.Sprintf("%s-%d", w.prefix, w.random.IntN(k.names))
	dice := w.random.IntN(10)
	switch is := k.resource + "/" + name; {
	case !w.alive[is]:
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

// stamp is the annotation with the writer's own idea of the time.
const stamp = "faults.informer.example.com/at"

// app is a label that changes, so that indexes have to follow.
func (w *writer) app() string { return fmt.Sprintf("app-%d", w.random.IntN(10)) }

func (w *writer) create(ctx context.Context, k kind, name string) {
	object := k.object(metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"app": w.app()}, Annotations: map[string]string{stamp: w.churn.now()},
	})
	w.send(ctx, k, name, w.client.Post().Body(object), false)
}

func (w *writer) update(ctx context.Context, k kind, name string) {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q},"annotations":{%q:%q}}}`, w.app(), stamp, w.churn.now())
	w.send(ctx, k, name, w.client.Patch(types.MergePatchType).Name(name).Body(patch), false)
}

func (w *writer) remove(ctx context.Context, k kind, name string) {
	now := int64(0)
	w.send(ctx, k, name, w.client.Delete().Name(name).Body(&metav1.DeleteOptions{GracePeriodSeconds: &now}), true)
}

// send makes a change and writes down what came of it.
func (w *writer) send(ctx context.Context, k kind, name string, request *rest.Request, deleted bool) {
	is := k.resource + "/" + name
	answer, err := request.Resource(k.resource).Namespace(w.namespace).Do(ctx).Get()
	switch {
	case err == nil:
		written := judge.Written{Key: w.namespace + "/" + name, Deleted: deleted}
		// The answer to a delete is the object or a status, depending on the kind.
		if status, ok := answer.(*metav1.Status); ok {
			written.UID = status.Details.UID
		} else {
			o := answer.(metav1.Object)
			written.UID, written.Version = o.GetUID(), o.GetResourceVersion()
		}
		w.churn.confirm(k.resource, written)
		w.alive[is] = !deleted
		return
	case apierrors.IsAlreadyExists(err): // an earlier try was not in vain
		w.alive[is] = true
	case apierrors.IsNotFound(err):
		w.alive[is] = false
	}
	w.churn.fail()
}
