package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/05-watchdog/watchdog"
	"example.com/informer/scripts/harness/step"
)

// stepClientgo gives the same handler to a WatchDog and to four informers of
// client-go, one for each way to make them.
func stepClientgo(ctx context.Context, l *step.Lesson) error {
	one := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
		fields.OneTermEqualSelector("metadata.name", "one"))
	handler := func(name string) cache.ResourceEventHandler {
		return cache.ResourceEventHandlerFuncs{
			AddFunc:    func(obj any) { fmt.Fprintf(l.Out, "%s : OnAdd\n", name) },
			UpdateFunc: func(_, newObj any) { fmt.Fprintf(l.Out, "%s : OnUpdate\n", name) },
			DeleteFunc: func(obj any) { fmt.Fprintf(l.Out, "%s : OnDelete\n", name) },
		}
	}
	byNamespace := cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}

	dog, err := watchdog.New(watchdog.Options{
		ListerWatcher: one, ObjectType: &corev1.ConfigMap{}, Handler: handler("WatchDog")})
	if err != nil {
		return err
	}
	plain, plainController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: one, ObjectType: &corev1.ConfigMap{}, Handler: handler("NewInformerWithOptions")})
	indexed, indexedController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: one, ObjectType: &corev1.ConfigMap{}, Handler: handler("with an index"), Indexers: byNamespace})
	//lint:ignore SA1019 deprecated: this is what it was
	oldPlain, oldPlainController := cache.NewInformer(one, &corev1.ConfigMap{}, 0, handler("NewInformer"))
	//lint:ignore SA1019 deprecated: this is what it was
	oldIndexed, oldIndexedController := cache.NewIndexerInformer(one, &corev1.ConfigMap{}, 0,
		handler("NewIndexerInformer"), byNamespace)

	l.On("each store is asked for its index", func() {
		for _, store := range []cache.Store{plain, indexed, oldPlain, oldIndexed} { // all are indexers inside
			objs, err := store.(cache.Indexer).ByIndex(cache.NamespaceIndex, l.Namespace)
			fmt.Fprintf(l.Out, "by namespace : %d, error: %v\n", len(objs), err)
		}
	})
	var running sync.WaitGroup
	for _, controller := range []cache.Controller{
		plainController, indexedController, oldPlainController, oldIndexedController,
	} {
		running.Go(func() { controller.RunWithContext(ctx) })
	}
	defer running.Wait()
	return dog.Run(ctx)
}
