package main

import (
	"context"
	"fmt"
	"io"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// A printer is a handler that prints its calls. It is a struct with the three methods of a handler.
type printer struct{ out io.Writer }

// The compiler reports a missing method, or a method that has changed in a new version of
// client-go.
var _ cache.ResourceEventHandler = printer{}

func (p printer) OnAdd(obj any, isInInitialList bool) {
	fmt.Fprintf(p.out, "OnAdd : %s : in the initial list: %v\n", obj.(*corev1.ConfigMap).Name, isInInitialList)
}

func (p printer) OnUpdate(oldObj, newObj any) {
	fmt.Fprintf(p.out, "OnUpdate : %s : %s, was %s\n", newObj.(*corev1.ConfigMap).Name,
		newObj.(*corev1.ConfigMap).Data["sky"], oldObj.(*corev1.ConfigMap).Data["sky"])
}

func (p printer) OnDelete(obj any) {
	if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		obj = tombstone.Obj // the last known state: the informer has missed the delete
	}
	if configMap, ok := obj.(*corev1.ConfigMap); ok { // a tombstone may have no object
		fmt.Fprintln(p.out, "OnDelete :", configMap.Name)
	}
}

// stepStruct adds a printer to an informer. cache.ResourceEventHandlerFuncs is a struct with the
// same three methods. Each of its methods calls a field, if the field is set.
func stepStruct(ctx context.Context, l *step.Lesson) error {
	configMaps := informer.New(
		cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
			fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")),
		&corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if _, err := configMaps.AddEventHandler(printer{l.Out}); err != nil {
		return err
	}
	configMaps.RunWithContext(ctx)
	return nil
}
