// Package widgets has a custom resource to play with: its definition, and
// objects of it.
package widgets

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"example.com/informer/02-listwatch/kube"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// Widgets are a resource of the session's own: its group has the name of the
// namespace in it, since definitions belong to the whole cluster.
type Widgets struct {
	Resource schema.GroupVersionResource

	session *kube.Session
}

// Define defines widgets, and waits until the server serves them. The caller
// calls Remove.
func Define(ctx context.Context, s *kube.Session) (*Widgets, error) {
	w := &Widgets{
		Resource: schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1", Resource: "widgets"},
		session:  s,
	}
	if _, err := s.Dynamic.Resource(definitions).Create(ctx, w.definition(), metav1.CreateOptions{}); err != nil {
		return nil, fmt.Errorf("defining widgets: %w", err)
	}
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, err := s.Dynamic.Resource(w.Resource).Namespace(s.Namespace).List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				return false, nil // not served yet
			}
			return err == nil, err
		})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("waiting until widgets are served: %w", err), w.Remove(ctx))
	}
	return w, nil
}

func (w *Widgets) definition() *unstructured.Unstructured {
	integer := map[string]any{"type": "object", "properties": map[string]any{"size": map[string]any{"type": "integer"}}}
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": w.Resource.GroupResource().String()},
		"spec": map[string]any{
			"group": w.Resource.Group,
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget",
				"listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{
					"type": "object", "properties": map[string]any{"spec": integer},
				}},
			}},
		},
	}}
}

// Create makes a widget, and prints a command for it.
func (w *Widgets) Create(ctx context.Context, name string, size int64) error {
	w.session.Printf("# kubectl create -f %s.yaml, a widget of size %d\n", name, size)
	_, err := w.session.Dynamic.Resource(w.Resource).Namespace(w.session.Namespace).Create(ctx,
		&unstructured.Unstructured{Object: map[string]any{
			"apiVersion": w.Resource.GroupVersion().String(),
			"kind":       "Widget",
			"metadata":   map[string]any{"name": name},
			"spec":       map[string]any{"size": size},
		}}, metav1.CreateOptions{})
	return err
}

// Resize gives a widget another size, and prints the command for it.
func (w *Widgets) Resize(ctx context.Context, name string, size int64) error {
	patch := fmt.Sprintf(`{"spec":{"size":%d}}`, size)
	w.session.Printf("# kubectl patch widget %s --type=merge --patch '%s'\n", name, patch)
	_, err := w.session.Dynamic.Resource(w.Resource).Namespace(w.session.Namespace).
		Patch(ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// Size is what a widget's spec says.
func Size(widget *unstructured.Unstructured) int64 {
	size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size") // no size is zero
	return size
}

// Remove takes the definition, and so all widgets, off the cluster, also when
// ctx has ended. To remove it again is fine.
func (w *Widgets) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	err := w.session.Dynamic.Resource(definitions).Delete(ctx, w.Resource.GroupResource().String(),
		metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing the definition of widgets: %w", err)
	}
	return nil
}
