package main

import (
	"context"
	"fmt"
	"io"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/step"
)

// A printer is a handler as a struct: a type with the three methods of cache.ResourceEventHandler.
type printer struct {
	out  io.Writer
	name string // of the informer that calls it
}

func (p printer) OnAdd(obj any, isInInitialList bool) {
	configMap := obj.(*corev1.ConfigMap)
	fmt.Fprintf(p.out, "%s : OnAdd : %s, in the first list: %t\n", p.name, configMap.Name, isInInitialList)
}

func (p printer) OnUpdate(oldObj, newObj any) {
	before, after := oldObj.(*corev1.ConfigMap), newObj.(*corev1.ConfigMap)
	fmt.Fprintf(p.out, "%s : OnUpdate : %s : %s (was %s)\n", p.name, after.Name, after.Data["sky"], before.Data["sky"])
}

func (p printer) OnDelete(obj any) {
	name, _ := cache.DeletionHandlingObjectToName(obj) // works for a tombstone, too: see the step tombstone
	fmt.Fprintf(p.out, "%s : OnDelete : %s\n", p.name, name.Name)
}

// stepClientgo gives the same handler to a WatchDog and to three informers of client-go. Each of
// the three comes from another constructor.
func stepClientgo(ctx context.Context, env *step.Env) error {
	configMaps := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermNotEqualSelector("metadata.name", "kube-root-ca.crt")) // which every namespace has
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: configMaps, ObjectType: &corev1.ConfigMap{}, Handler: printer{env.Out, "WatchDog"}})
	if err != nil {
		return err
	}
	today, todayController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: configMaps, ObjectType: &corev1.ConfigMap{}, Handler: printer{env.Out, "NewInformerWithOptions"},
		Indexers: byNamespace})
	//lint:ignore SA1019 the deprecated constructor is shown on purpose
	old, oldController := cache.NewInformer(configMaps, &corev1.ConfigMap{}, 0, printer{env.Out, "NewInformer"})
	//lint:ignore SA1019 the deprecated constructor is shown on purpose
	oldIndexer, oldIndexerController := cache.NewIndexerInformer(configMaps, &corev1.ConfigMap{}, 0,
		printer{env.Out, "NewIndexerInformer"}, byNamespace)

	env.On("each store is asked for its index", func() {
		for _, store := range []cache.Store{today, old, oldIndexer} { // each store is an Indexer, too
			objs, err := store.(cache.Indexer).ByIndex(cache.NamespaceIndex, env.Namespace)
			fmt.Fprintf(env.Out, "by namespace : %d, error: %v\n", len(objs), err)
		}
	})
	var running sync.WaitGroup
	for _, controller := range []cache.Controller{todayController, oldController, oldIndexerController} {
		running.Go(func() { controller.RunWithContext(ctx) })
	}
	defer running.Wait()
	return dog.Run(ctx)
}
