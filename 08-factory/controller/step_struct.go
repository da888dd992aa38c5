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

// A printer is a handler as a struct with three methods, all of them: it prints.
type printer struct{ out io.Writer }

// The compiler says so if a method is missing, or has changed in a new client-go.
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
		obj = tombstone.Obj // what was last seen: the delete itself was missed
	}
	if configMap, ok := obj.(*corev1.ConfigMap); ok { // a tombstone may be empty
		fmt.Fprintln(p.out, "OnDelete :", configMap.Name)
	}
}

// stepStruct gives an informer that handler. cache.ResourceEventHandlerFuncs is a
// struct with the same three methods; each calls a field, if it is set.
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
