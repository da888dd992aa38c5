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

// stepClientgo gives the same handler to a WatchDog and to four informers of client-go. Each of the
// four comes from another constructor.
func stepClientgo(ctx context.Context, l *step.Lesson) error {
	listWatch := cache.NewListWatchFromClient(l.Client.CoreV1().RESTClient(), "configmaps", l.Namespace,
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
		ListerWatcher: listWatch, ObjectType: &corev1.ConfigMap{}, Handler: handler("WatchDog")})
	if err != nil {
		return err
	}
	plain, plainController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: listWatch, ObjectType: &corev1.ConfigMap{}, Handler: handler("NewInformerWithOptions")})
	indexed, indexedController := cache.NewInformerWithOptions(cache.InformerOptions{
		ListerWatcher: listWatch, ObjectType: &corev1.ConfigMap{}, Handler: handler("with an index"),
		Indexers: byNamespace})
	//lint:ignore SA1019 the deprecated constructor is shown on purpose
	oldPlain, oldPlainController := cache.NewInformer(listWatch, &corev1.ConfigMap{}, 0, handler("NewInformer"))
	//lint:ignore SA1019 the deprecated constructor is shown on purpose
	oldIndexed, oldIndexedController := cache.NewIndexerInformer(listWatch, &corev1.ConfigMap{}, 0,
		handler("NewIndexerInformer"), byNamespace)

	l.On("each store is asked for its index", func() {
		for _, store := range []cache.Store{plain, indexed, oldPlain, oldIndexed} { // each store is an Indexer, too
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
