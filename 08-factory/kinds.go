package main

import (
	"context"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/08-factory/factory"
)

// kinds caches a ConfigMap twice: as it comes, and with its kind.
func kinds(ctx context.Context, s *kube.Session) error {
	if err := kindOf(ctx, s, "as it comes", factory.Options{Namespace: s.Namespace}); err != nil {
		return err
	}
	return kindOf(ctx, s, "with its kind", factory.Options{Namespace: s.Namespace, Kinds: true})
}

// kindOf prints what the calls of a ConfigMap's life say that it is.
func kindOf(ctx context.Context, s *kube.Session, title string, options factory.Options) error {
	f := factory.New(s.Clientset, options)
	defer f.Shutdown()
	show := func(call string, obj any) {
		if configMap, ok := obj.(*corev1.ConfigMap); ok && configMap.Name == "weather" {
			text, _ := json.Marshal(configMap) // it never fails
			s.Printf("%s : %s : kind %q, version %q : %.25s…\n", title, call, configMap.Kind, configMap.APIVersion,
				text)
		}
	}
	if _, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { show("OnAdd", obj) },
		UpdateFunc: func(_, obj any) { show("OnUpdate", obj) },
		DeleteFunc: func(obj any) { show("OnDelete", obj) },
	}); err != nil {
		return err
	}
	if err := start(ctx, f); err != nil {
		return err
	}
	for _, act := range []struct {
		do   func() error
		then string
	}{
		{func() error { return create(ctx, s, "weather", "blue") }, "OnAdd"},
		{func() error { return change(ctx, s, "weather", "grey") }, "OnUpdate"},
		{func() error { return s.DeleteConfigMap(ctx, "weather") }, "OnDelete"},
	} {
		if err := act.do(); err != nil {
			return err
		}
		if err := s.WaitPrinted(ctx, title+" : "+act.then); err != nil {
			return err
		}
	}
	return nil
}
