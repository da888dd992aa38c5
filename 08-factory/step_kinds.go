package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepKinds caches a ConfigMap twice: as the server sends it, and with the option Kinds. Each time,
// a handler prints the kind and the version of the object.
func stepKinds(ctx context.Context, env *step.Env) error {
	for name, kinds := range map[string]bool{"as it comes": false, "with its kind": true} {
		f := factory.New(env.Client, factory.Options{
			Namespace:        env.Namespace,
			TweakListOptions: func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=weather" },
			Kinds:            kinds,
		})
		defer f.Shutdown()
		show := func(call string, obj any) {
			configMap, ok := obj.(*corev1.ConfigMap)
			if !ok { // a tombstone may have no object
				return
			}
			text, _ := json.Marshal(configMap) // the error is always nil
			fmt.Fprintf(env.Out, "%s : %s : kind %q, version %q : %.25s…\n",
				name, call, configMap.Kind, configMap.APIVersion, text)
		}
		if _, err := f.ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { show("OnAdd", obj) },
			UpdateFunc: func(_, newObj any) { show("OnUpdate", newObj) },
			DeleteFunc: func(obj any) {
				if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
					obj = tombstone.Obj // the last known state: see chapter 05
				}
				show("OnDelete", obj)
			},
		}); err != nil {
			return err
		}
		f.Start(ctx)
	}
	<-ctx.Done()
	return nil
}
