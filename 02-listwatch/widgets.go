// The custom resource that the step gone watches.

package main

import (
	"context"
	"errors"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	clientdynamic "k8s.io/client-go/dynamic"

	"example.com/informer/02-listwatch/kube"
)

var definitions = schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1",
	Resource: "customresourcedefinitions"}

// widgets are objects of a resource that was defined a moment ago.
type widgets struct {
	clientdynamic.ResourceInterface
	session    *kube.Session
	group      string
	definition string // the name of the resource's definition
}

// newWidgets defines a resource and waits until the server serves it. It
// also returns a version from before that: the one at which it was defined.
func newWidgets(ctx context.Context, s *kube.Session) (w *widgets, before string, err error) {
	// Definitions belong to the whole cluster; the namespace's name makes this one ours.
	group := s.Namespace + ".example.com"
	gvr := schema.GroupVersionResource{Group: group, Version: "v1", Resource: "widgets"}
	w = &widgets{
		ResourceInterface: s.Dynamic.Resource(gvr).Namespace(s.Namespace),
		session:           s,
		group:             group,
		definition:        "widgets." + group,
	}
	defined, err := s.Dynamic.Resource(definitions).Create(ctx, w.crd(), metav1.CreateOptions{})
	if err != nil {
		return nil, "", err
	}
	err = wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			_, err := w.List(ctx, metav1.ListOptions{})
			if apierrors.IsNotFound(err) {
				return false, nil // not served yet
			}
			return err == nil, err
		})
	if wait.Interrupted(err) && ctx.Err() == nil {
		err = errors.New("the server did not serve widgets within 30 s of their definition")
	}
	if err != nil {
		return nil, "", w.remove(ctx, err)
	}
	return w, defined.GetResourceVersion(), nil
}

// crd is the definition of widgets, which have no fields of their own.
func (w *widgets) crd() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1",
		"kind":       "CustomResourceDefinition",
		"metadata":   map[string]any{"name": w.definition},
		"spec": map[string]any{
			"group": w.group,
			"scope": "Namespaced",
			"names": map[string]any{"plural": "widgets", "singular": "widget", "kind": "Widget",
				"listKind": "WidgetList"},
			"versions": []any{map[string]any{
				"name": "v1", "served": true, "storage": true,
				"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object"}},
			}},
		},
	}}
}

// create makes a widget and prints the command for it.
func (w *widgets) create(ctx context.Context, name string) error {
	w.session.Printf("# kubectl create -f %s.yaml\n", name)
	_, err := w.Create(ctx, &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": w.group + "/v1",
		"kind":       "Widget",
		"metadata":   map[string]any{"name": name},
	}}, metav1.CreateOptions{})
	return err
}

// remove takes the definition, and so all widgets, off the cluster, also when
// ctx has ended. It returns err with its own error, if any.
func (w *widgets) remove(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	return errors.Join(err, w.session.Dynamic.Resource(definitions).Delete(ctx, w.definition, metav1.DeleteOptions{}))
}
