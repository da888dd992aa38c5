package main

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepTransform removes the managed fields from each object before it is stored. In these fields,
// the server records who wrote which field. Few programs read them.
func stepTransform(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	configMaps := informer.New(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	size := func(configMap *corev1.ConfigMap) int {
		configMap = configMap.DeepCopy()
		configMap.ResourceVersion = "" // it has more digits on an old cluster
		text, _ := json.Marshal(configMap)
		return len(text)
	}
	transform := func(obj any) (any, error) {
		configMap := obj.(*corev1.ConfigMap) // fresh from the server: we may change it
		before := size(configMap)
		configMap.ManagedFields = nil
		fmt.Fprintf(env.Out, "transform : from %d bytes to %d\n", before, size(configMap))
		return configMap, nil
	}
	if err := configMaps.SetTransform(transform); err != nil {
		return err
	}
	show := func(method string, obj any) {
		configMap := obj.(*corev1.ConfigMap)
		fmt.Fprintf(env.Out, "%s : %s, managed fields of %d writers\n",
			method, configMap.Data["sky"], len(configMap.ManagedFields))
	}
	_, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(obj any) { show("OnAdd", obj) },
		UpdateFunc: func(_, newObj any) { show("OnUpdate", newObj) },
	})
	if err != nil {
		return err
	}
	env.On("a transform is set while the informer runs", func() {
		fmt.Fprintln(env.Out, "SetTransform :", configMaps.SetTransform(transform))
	})
	configMaps.RunWithContext(ctx)
	return nil
}
