// Widgets: a custom resource that steps define, watch and remove.

package kube

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

const widgetDefinition = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {spec: {type: object, properties: {size: {type: integer}}}}
`

// Widgets are a resource of the session's own: its group has the name of the
// namespace in it, since definitions belong to the whole cluster.
type Widgets struct {
	Resource  schema.GroupVersionResource
	DefinedAt string // the resource version of the definition: there were no widgets before it

	session *Session
}

// DefineWidgets defines them, and waits until the server serves them. The caller
// calls Remove.
func (s *Session) DefineWidgets(ctx context.Context) (*Widgets, error) {
	w := &Widgets{
		Resource: schema.GroupVersionResource{Group: s.Namespace + ".example.com", Version: "v1", Resource: "widgets"},
		session:  s,
	}
	definition := &unstructured.Unstructured{}
	text := strings.ReplaceAll(widgetDefinition, "GROUP", w.Resource.Group)
	if err := yaml.Unmarshal([]byte(text), &definition.Object); err != nil {
		return nil, err
	}
	definition, err := s.Dynamic.Resource(definitions).Create(ctx, definition, metav1.CreateOptions{})
	if err != nil {
		return nil, fmt.Errorf("defining widgets: %w", err)
	}
	w.DefinedAt = definition.GetResourceVersion()
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true,
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

// Remove takes the definition, and so all widgets, off the cluster, also when
// ctx has ended. To remove it again is fine.
func (w *Widgets) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), connectTimeout)
	defer cancel()
	err := w.session.Dynamic.Resource(definitions).Delete(ctx, w.Resource.GroupResource().String(),
		metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		return fmt.Errorf("removing the definition of widgets: %w", err)
	}
	return nil
}
