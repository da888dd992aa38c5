package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepClientgo runs one program on two factories. What is inside the loop knows
// client-go's interface, and nothing of ours.
func stepClientgo(ctx context.Context, l *step.Lesson) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for name, f := range map[string]informers.SharedInformerFactory{
		"client-go's": informers.NewSharedInformerFactoryWithOptions(l.Client, 0, informers.WithNamespace(l.Namespace)),
		"ours":        factory.New(l.Client, factory.Options{Namespace: l.Namespace}).ClientGo(),
	} {
		defer func() { cancel(); f.Shutdown() }() // client-go's Shutdown only waits
		configMaps, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("configmaps"))
		if err != nil {
			return err
		}
		if _, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			UpdateFunc: func(_, newObj any) {
				fmt.Fprintf(l.Out, "%s : updated : %s\n", name, newObj.(*corev1.ConfigMap).Name)
			},
			DeleteFunc: func(obj any) {
				key, _ := cache.DeletionHandlingObjectToName(obj) // of a tombstone, too
				fmt.Fprintf(l.Out, "%s : deleted : %s\n", name, key.Name)
			},
		}); err != nil {
			return err
		}
		pods := f.Core().V1().Pods()
		handler, err := pods.TypedInformer().AddTypedEventHandler(cache.TypedResourceEventHandlerFuncs[*corev1.Pod]{
			AddFunc: func(pod *corev1.Pod) {
				fmt.Fprintf(l.Out, "%s : added : %s : %s\n", name, pod.Name, pod.Status.Phase)
			},
			DeleteFunc: func(pod cache.DeletedObject[*corev1.Pod]) {
				fmt.Fprintf(l.Out, "%s : deleted : %s\n", name, pod.GetName())
			},
		})
		if err != nil {
			return err
		}
		f.StartWithContext(ctx)
		if err := f.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			return err
		}
		cache.WaitForCacheSync(ctx.Done(), handler.HasSynced) // the handler has seen the first list
		fmt.Fprintf(l.Out, "%s : ConfigMap : %s\n", name, names(configMaps.Lister().List(labels.Everything())))
		fmt.Fprintf(l.Out, "%s : Pod : %s\n", name, names(pods.Lister().List(labels.Everything())))
	}
	<-ctx.Done()
	return nil
}
