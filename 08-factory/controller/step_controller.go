package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepController is a controller of the usual form: a handler adds keys to a work queue, and a loop
// takes them out. Only one line says that the informer is ours.
func stepController(ctx context.Context, env *step.Env) error {
	listWatch := cache.NewListWatchFromClient(env.Client.CoreV1().RESTClient(), "configmaps", env.Namespace,
		fields.OneTermEqualSelector("metadata.name", "weather"))
	var configMaps cache.SharedIndexInformer = informer.New(listWatch, &corev1.ConfigMap{},
		cache.SharedIndexInformerOptions{Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc}})
	lister := corelisters.NewConfigMapLister(configMaps.GetIndexer())

	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	context.AfterFunc(ctx, queue.ShutDown)
	enqueue := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	registration, err := configMaps.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, newObj any) { enqueue(newObj) }, DeleteFunc: enqueue,
	})
	if err != nil {
		return err
	}
	var running sync.WaitGroup
	defer running.Wait()
	running.Go(func() { configMaps.RunWithContext(ctx) })
	if !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) { // until the handler has received the first list
		return ctx.Err()
	}

	for {
		key, shutdown := queue.Get()
		if shutdown {
			return nil
		}
		if err := reconcileSky(ctx, env, lister, key); err != nil {
			utilruntime.HandleErrorWithContext(ctx, err, "Reconciling, to be tried again", "key", key)
			queue.AddRateLimited(key)
		} else {
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

// reconcileSky reads a ConfigMap from the informer's store. It writes the sky into an annotation,
// unless the annotation has this value already.
func reconcileSky(ctx context.Context, env *step.Env, lister corelisters.ConfigMapLister, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	configMap, err := lister.ConfigMaps(namespace).Get(name)
	switch {
	case apierrors.IsNotFound(err):
		fmt.Fprintf(env.Out, "%s : gone\n", name)
		return nil
	case err != nil:
		return err
	case configMap.Annotations["example.com/seen"] == configMap.Data["sky"]:
		fmt.Fprintf(env.Out, "%s : %s, as it should be\n", name, configMap.Data["sky"])
		return nil
	}
	fmt.Fprintf(env.Out, "%s : %s, to be noted\n", name, configMap.Data["sky"])
	patch := fmt.Appendf(nil, `{"metadata":{"annotations":{"example.com/seen":%q}}}`, configMap.Data["sky"])
	_, err = env.Client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, patch,
		metav1.PatchOptions{})
	return err
}
