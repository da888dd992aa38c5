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

// stepClassic runs our informer with the queue that client-go's had for many years. It has an index
// and two handlers. The slow handler does not return from its first call before the
// transcript says that it goes on.
func stepClassic(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")) // which every namespace has
	cities := informer.NewWithParts(listWatch, &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
		Indexers: cache.Indexers{"sky": bySky},
	}, informer.Parts{Queue: informer.DeltaFIFO})
	stuck, release := context.WithCancel(ctx)
	defer release()
	for _, name := range []string{"fast", "slow"} {
		show := func(method string, obj any, was string) {
			if name == "slow" {
				<-stuck.Done()
			}
			if unseen, ok := obj.(cache.DeletedFinalStateUnknown); ok { // a tombstone: see chapter 05
				obj = unseen.Obj
			}
			if city, ok := obj.(*corev1.ConfigMap); ok {
				fmt.Fprintf(env.Out, "%s : %s : %s : %s%s\n", name, method, city.Name, city.Data["sky"], was)
			}
		}
		_, err := cities.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { show("OnAdd", obj, "") },
			UpdateFunc: func(oldObj, newObj any) {
				show("OnUpdate", newObj, fmt.Sprintf(" (was %s)", oldObj.(*corev1.ConfigMap).Data["sky"]))
			},
			DeleteFunc: func(obj any) { show("OnDelete", obj, "") },
		})
		if err != nil {
			return err
		}
	}
	env.On("the slow handler goes on", release)
	env.On("where is the sky grey?", func() {
		keys, _ := cities.GetIndexer().IndexKeys("sky", "grey") // no error: the index exists
		fmt.Fprintln(env.Out, "index : grey :", keys)
	})
	cities.RunWithContext(ctx)
	return nil
}

// bySky is the index function. A city without a sky is in the store, but not in the index.
func bySky(obj any) ([]string, error) {
	city, ok := obj.(*corev1.ConfigMap)
	if !ok {
		return nil, fmt.Errorf("want a ConfigMap, got %T", obj)
	}
	if city.Data["sky"] == "" {
		return nil, nil
	}
	return []string{city.Data["sky"]}, nil
}
