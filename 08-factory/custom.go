package main

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/08-factory/factory"
)

// custom defines a resource, and watches it with the same factory as
// ConfigMaps. Its objects are maps: client-go has no Go type for them.
func custom(ctx context.Context, s *kube.Session) (err error) {
	defined, err := s.DefineWidgets(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, defined.Remove(ctx)) }()
	if err := defined.Create(ctx, "cog", 1); err != nil {
		return err
	}
	f := factory.New(s.Clientset, factory.Options{Namespace: s.Namespace, Dynamic: s.Dynamic})
	defer f.Shutdown()
	asked, err := f.ForResource(defined.Resource)
	if err != nil {
		return err
	}
	configMaps := f.ConfigMaps().Lister()
	if _, err := asked.Informer().AddEventHandler(sizes(s)); err != nil {
		return err
	}
	if err := start(ctx, f); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnAdd : cog"); err != nil {
		return err
	}
	s.Printf("config maps : %s\n", names(configMaps.List(labels.Everything())))
	if err := defined.Resize(ctx, "cog", 2); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnUpdate : cog"); err != nil {
		return err
	}
	s.Printf("# kubectl delete crd widgets, and with it all widgets\n")
	if err := defined.Remove(ctx); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnDelete : cog"); err != nil {
		return err
	}
	f.Forget(defined.Resource) // else it would ask for widgets for ever
	return nil
}

// sizes prints what happens to widgets.
func sizes(s *kube.Session) cache.ResourceEventHandler {
	tell := func(call string, obj any) {
		if gone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = gone.Obj
		}
		widget, ok := obj.(*unstructured.Unstructured)
		if !ok {
			return // an empty tombstone
		}
		size, _, _ := unstructured.NestedInt64(widget.Object, "spec", "size")
		version := strings.ReplaceAll(widget.GetAPIVersion(), s.Namespace, "NAMESPACE")
		s.Printf("%s : %s : size %d : %s %s, a %T\n", call, widget.GetName(), size, version, widget.GetKind(), widget)
	}
	return cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { tell("OnAdd", obj) },
		UpdateFunc: func(_, obj any) { tell("OnUpdate", obj) },
		DeleteFunc: func(obj any) { tell("OnDelete", obj) },
	}
}
