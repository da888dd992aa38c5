package record

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// A Writer changes its own ConfigMaps and pods at random. It creates, updates and deletes them.
// Sometimes it deletes an object, and immediately creates another one of the same name. The changes
// depend on Random alone, unless one fails. All fields except Pods are required.
type Writer struct {
	Client     rest.Interface // of the core API
	Namespace  string
	Prefix     string // of the names
	ConfigMaps int    // how many names for ConfigMaps it has
	Pods       int    // how many names for pods it has; 0: it changes only ConfigMaps
	Random     *rand.Rand
	Clock      func() time.Time // the time for the annotation of the objects
	Confirmed  func(Change)     // called with each change that the server has confirmed

	exists map[string]Object // by resource and name, as written last; a nil object is not known
}

// stamp is the annotation with the time of the writer's clock.
const stamp = "informer.example.com/at"

// Change makes one change, or two if it replaces an object.
func (w *Writer) Change(ctx context.Context) error {
	resource, names := "configmaps", w.ConfigMaps
	if w.Pods > 0 && w.Random.IntN(4) == 0 {
		resource, names = "pods", w.Pods
	}
	name := fmt.Sprintf("%s-%d", w.Prefix, w.Random.IntN(names))
	_, exists := w.exists[resource+"/"+name]
	dice := w.Random.IntN(10)
	switch {
	case !exists:
		return w.create(ctx, resource, name)
	case dice >= 4:
		return w.update(ctx, resource, name)
	case dice >= 2:
		if err := w.delete(ctx, resource, name); err != nil {
			return err
		}
		return w.create(ctx, resource, name)
	default:
		return w.delete(ctx, resource, name)
	}
}

func (w *Writer) create(ctx context.Context, resource, name string) error {
	return w.send(ctx, resource, name, w.Client.Post().Body(w.object(resource, name)), false)
}

func (w *Writer) update(ctx context.Context, resource, name string) error {
	patch := fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q},"annotations":{%q:%q}}}`, w.app(), stamp, w.now())
	return w.send(ctx, resource, name, w.Client.Patch(types.MergePatchType).Name(name).Body(patch), false)
}

func (w *Writer) delete(ctx context.Context, resource, name string) error {
	return w.send(ctx, resource, name, w.Client.Delete().Name(name).Body(metav1.NewDeleteOptions(0)), true)
}

// app returns a random value for the label app. A test can index it.
func (w *Writer) app() string { return fmt.Sprintf("app-%d", w.Random.IntN(10)) }

func (w *Writer) now() string { return w.Clock().Format(time.RFC3339Nano) }

// object returns a new object to create.
func (w *Writer) object(resource, name string) runtime.Object {
	m := metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"app": w.app()}, Annotations: map[string]string{stamp: w.now()},
	}
	if resource == "configmaps" {
		return &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"made": m.Annotations[stamp]}}
	}
	// The gate keeps the pod from being scheduled, so that only the writer changes it.
	return &corev1.Pod{ObjectMeta: m, Spec: corev1.PodSpec{
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
		Containers:      []corev1.Container{{Name: "idle", Image: "none"}},
	}}
}

// send sends the request for a change. If the server confirms the change, send calls Confirmed.
func (w *Writer) send(ctx context.Context, resource, name string, request *rest.Request, deleted bool) error {
	if w.exists == nil {
		w.exists = map[string]Object{}
	}
	id := resource + "/" + name
	answer, err := request.Resource(resource).Namespace(w.Namespace).Do(ctx).Get()
	switch {
	case apierrors.IsAlreadyExists(err): // an earlier request has succeeded, though it returned an error
		w.exists[id] = nil
	case apierrors.IsNotFound(err):
		delete(w.exists, id)
	}
	if err != nil {
		return fmt.Errorf("changing %s: %w", id, err)
	}
	change := Change{Resource: resource, Key: w.Namespace + "/" + name, Deleted: deleted, Object: w.exists[id]}
	if deleted {
		delete(w.exists, id)
	} else {
		change.Object = answer.(Object)
		w.exists[id] = change.Object
	}
	// The answer to a delete is the object or a status, depending on the kind.
	if status, ok := answer.(*metav1.Status); ok {
		change.UID = status.Details.UID
	} else {
		change.UID, change.Version = answer.(Object).GetUID(), answer.(Object).GetResourceVersion()
	}
	w.Confirmed(change)
	return nil
}
