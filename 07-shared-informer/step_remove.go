package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepRemove removes one of two handlers while the informer runs. After ShutDownEventHandler has
// returned, that handler gets no call.
func stepRemove(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	configMaps := informer.New(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	handler := func(name string) cache.ResourceEventHandler {
		return cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) {
				fmt.Fprintf(env.Out, "%s : OnAdd : %s\n", name, obj.(*corev1.ConfigMap).Data["sky"])
			},
			UpdateFunc: func(_, newObj any) {
				fmt.Fprintf(env.Out, "%s : OnUpdate : %s\n", name, newObj.(*corev1.ConfigMap).Data["sky"])
			},
			DeleteFunc: func(obj any) { fmt.Fprintf(env.Out, "%s : OnDelete\n", name) },
		}
	}
	if _, err := configMaps.AddEventHandler(handler("stays")); err != nil {
		return err
	}
	registration, err := configMaps.AddEventHandler(handler("leaves"))
	if err != nil {
		return err
	}
	env.On("a handler leaves, and leaves once more", func() {
		fmt.Fprintln(env.Out, "ShutDownEventHandler :", cache.ShutDownEventHandler(configMaps, registration))
		fmt.Fprintln(env.Out, "RemoveEventHandler :", configMaps.RemoveEventHandler(registration))
	})
	configMaps.RunWithContext(ctx)
	return nil
}
