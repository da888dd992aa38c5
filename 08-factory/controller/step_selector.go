package main

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/08-factory/factory"
	"example.com/informer/scripts/harness/step"
)

// stepSelector prints the pods of a Service when they may have changed. A pod does not say which
// Services it belongs to: each Service selects pods by their labels.
func stepSelector(ctx context.Context, env *step.Env) error {
	f := factory.New(env.Client, factory.Options{Namespace: env.Namespace})
	defer f.Shutdown()
	services, pods := f.Services(), f.Pods()
	queue := workqueue.NewTyped[string]()
	context.AfterFunc(ctx, queue.ShutDown)

	enqueue := func(service any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(service); err == nil {
			queue.Add(key)
		}
	}
	enqueueServicesOf := func(obj any) {
		if tombstone, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = tombstone.Obj
		}
		pod, ok := obj.(*corev1.Pod)
		if !ok {
			return
		}
		nearby, _ := services.Lister().Services(pod.Namespace).List(labels.Everything())
		for _, service := range nearby {
			if selectorOf(service).Matches(labels.Set(pod.Labels)) {
				enqueue(service)
			}
		}
	}
	if _, err := services.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, service any) { enqueue(service) }, DeleteFunc: enqueue,
	}); err != nil {
		return err
	}
	if _, err := pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueueServicesOf,
		UpdateFunc: func(oldPod, newPod any) {
			enqueueServicesOf(oldPod) // the Services that it may have left
			enqueueServicesOf(newPod)
		},
		DeleteFunc: enqueueServicesOf,
	}); err != nil {
		return err
	}
	f.Start(ctx)
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}

	for {
		key, shutdown := queue.Get()
		if shutdown {
			return nil
		}
		namespace, name, _ := cache.SplitMetaNamespaceKey(key)
		if service, err := services.Lister().Services(namespace).Get(name); err != nil {
			fmt.Fprintf(env.Out, "%s : gone\n", name)
		} else {
			selected, _ := pods.Lister().Pods(namespace).List(selectorOf(service))
			fmt.Fprintf(env.Out, "%s : pods: %d\n", name, len(selected))
		}
		queue.Done(key)
	}
}

// selectorOf returns the selector of a Service as one of package labels.
func selectorOf(service *corev1.Service) labels.Selector {
	if len(service.Spec.Selector) == 0 {
		return labels.Nothing() // SelectorFromSet would return one that selects everything
	}
	return labels.SelectorFromSet(service.Spec.Selector)
}
