package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"example.com/informer/scripts/harness/step"
)

// stepGone watches a resource from a version that is older than the definition of the resource. The
// server does not have the changes since this version. So a client has to list, and to watch from
// the version of the list.
func stepGone(ctx context.Context, env *step.Env) error {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	widgets := client.Resource(schema.GroupVersionResource{Group: env.Namespace + ".example.com", Version: "v1",
		Resource: "widgets"}).Namespace(env.Namespace)

	watcher, err := widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: "1"})
	if err != nil {
		return err // a version that is too old is not an error here: the HTTP status is 200
	}
	defer watcher.Stop()
	event, open := <-watcher.ResultChan()
	status, ok := event.Object.(*metav1.Status)
	switch {
	case !open:
		return errors.New("the watch ended without an event")
	case !ok:
		return cmp.Or(ctx.Err(), fmt.Errorf("want a status, got %s %T", event.Type, event.Object))
	}
	fmt.Fprintf(env.Out, "WATCH from a version that is too old : %s : %d %s\n", event.Type, status.Code, status.Reason)

	list, err := widgets.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	again, err := widgets.Watch(ctx, metav1.ListOptions{ResourceVersion: list.GetResourceVersion()})
	if err != nil {
		return err
	}
	defer again.Stop()
	fmt.Fprintln(env.Out, "LIST : widgets :", len(list.Items))
	for event := range again.ResultChan() {
		widget, ok := event.Object.(*unstructured.Unstructured)
		if !ok { // an ERROR, with a *metav1.Status; it may be the end of ctx
			return cmp.Or(ctx.Err(), apierrors.FromObject(event.Object))
		}
		fmt.Fprintf(env.Out, "WATCH from the list's version : %s : %s\n", event.Type, widget.GetName())
	}
	return nil
}
