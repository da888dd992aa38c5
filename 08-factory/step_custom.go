package main

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepCustom watches a custom resource with the same factory as ConfigMaps. The objects of the
// custom resource are unstructured, because client-go has no Go type for them.
func stepCustom(ctx context.Context, env *step.Env) error {
	client, err := dynamic.NewForConfig(env.Config)
	if err != nil {
		return err
	}
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace, Dynamic: client})
	defer f.Shutdown()
	widgets := schema.GroupVersionResource{Group: env.Namespace + ".example.com", Version: "v1", Resource: "widgets"}
	custom, err := f.ForResource(widgets)
	if err != nil {
		return err
	}
	configMaps := f.ConfigMaps().Lister()
	show := func(call string, obj any) {
		widget, ok := obj.(*unstructured.Unstructured)
		if !ok { // a tombstone may have no object
			return
		}
		size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size")
		fmt.Fprintf(env.Out, "%s : %s : size %d : %s %s, a %T\n",
			call, widget.GetName(), size, widget.GetAPIVersion(), widget.GetKind(), widget)
	}
	handler, err := custom.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { show("OnAdd", obj) },
		UpdateFunc: func(_, newObj any) { show("OnUpdate", newObj) },
		DeleteFunc: func(obj any) {
			if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = tombstone.Obj // the last known state: see chapter 05
			}
			show("OnDelete", obj)
		},
	})
	if err != nil {
		return err
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	if !cache.WaitFor(ctx, "", handler.HasSyncedChecker()) { // with an empty name, WaitFor logs nothing
		return ctx.Err()
	}
	fmt.Fprintln(env.Out, "config maps :", names(configMaps.List(labels.Everything())))

	env.On("the factory forgets widgets", func() { // without Forget, the informer would ask for widgets forever
		f.Forget(widgets)
		fmt.Fprintln(env.Out, "widgets : stopped:", custom.Informer().IsStopped())
	})
	<-ctx.Done()
	return nil
}
