// The writer of changes.

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

// A Writer changes ConfigMaps and pods of its own at random: it creates, updates and deletes them, and
// at times creates one again at once under the same name. Which changes it makes depends on Random
// alone, unless one fails. All fields are needed but Pods.
type Writer struct {
	Client           rest.Interface // of the core API
	Namespace        string
	Prefix           string // of the names
	ConfigMaps, Pods int    // names; without names for pods, all changes are to ConfigMaps
	Random           *rand.Rand
	Clock            func() time.Time // stamps the objects
	Confirmed        func(Change)     // is called with each change that the server has confirmed

	exists map[string]Object // by resource and name, as written last; nil: not known
}

// stamp is the annotation with the time on the writer's clock.
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
	if exists && dice >= 4 {
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"app":%q},"annotations":{%q:%q}}}`, w.app(), stamp, w.now())
		return w.send(ctx, resource, name, w.Client.Patch(types.MergePatchType).Name(name).Body(patch), false)
	}
	if exists {
		options := metav1.NewDeleteOptions(0)
		err := w.send(ctx, resource, name, w.Client.Delete().Name(name).Body(options), true)
		if err != nil || dice < 2 {
			return err
		}
	}
	return w.send(ctx, resource, name, w.Client.Post().Body(w.object(resource, name)), false)
}

// app is a value for the label app, for an index.
func (w *Writer) app() string { return fmt.Sprintf("app-%d", w.Random.IntN(10)) }

func (w *Writer) now() string { return w.Clock().Format(time.RFC3339Nano) }

func (w *Writer) object(resource, name string) runtime.Object {
	m := metav1.ObjectMeta{
		Name: name, Labels: map[string]string{"app": w.app()}, Annotations: map[string]string{stamp: w.now()},
	}
	if resource == "configmaps" {
		return &corev1.ConfigMap{ObjectMeta: m, Data: map[string]string{"made": m.Annotations[stamp]}}
	}
	return &corev1.Pod{ObjectMeta: m, Spec: corev1.PodSpec{ // nobody schedules it: it stays as it is
		SchedulingGates: []corev1.PodSchedulingGate{{Name: "example.com/never"}},
		Containers:      []corev1.Container{{Name: "idle", Image: "none"}},
	}}
}

// send makes a change and reports it.
func (w *Writer) send(ctx context.Context, resource, name string, request *rest.Request, deleted bool) error {
	if w.exists == nil {
		w.exists = map[string]Object{}
	}
	id := resource + "/" + name
	answer, err := request.Resource(resource).Namespace(w.Namespace).Do(ctx).Get()
	switch {
	case apierrors.IsAlreadyExists(err): // an earlier try has succeeded after all
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
