// A controller, as one writes them. It knows client-go's interfaces only.

package main

import (
	"context"
	"fmt"
	"log/slog"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corelisters "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
)

// seen is the annotation that the controller keeps equal to a ConfigMap's sky.
const seen = "example.com/seen"

type controller struct {
	client kubernetes.Interface
	lister corelisters.ConfigMapLister
	queue  workqueue.TypedRateLimitingInterface[string]
	printf func(string, ...any)
}

// newController has the factory's informer of ConfigMaps put the keys of what
// has changed into a queue.
func newController(client kubernetes.Interface, factory informers.SharedInformerFactory,
	printf func(string, ...any)) (*controller, error) {
	configMaps := factory.Core().V1().ConfigMaps()
	c := &controller{
		client: client,
		lister: configMaps.Lister(),
		queue:  workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]()),
		printf: printf,
	}
	enqueue := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			c.queue.Add(key)
		}
	}
	_, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }, DeleteFunc: enqueue,
	})
	return c, err
}

// run works off the queue until ctx ends.
func (c *controller) run(ctx context.Context) {
	defer context.AfterFunc(ctx, c.queue.ShutDown)()
	for {
		key, shutdown := c.queue.Get()
		if shutdown {
			return
		}
		if err := c.reconcile(ctx, key); err != nil && ctx.Err() == nil {
			slog.Error("reconciling, to be tried again", "key", key, "error", err)
			c.queue.AddRateLimited(key)
		} else {
			c.queue.Forget(key)
		}
		c.queue.Done(key)
	}
}

// reconcile reads one ConfigMap from the informer's store, and writes the
// annotation if it is not what it should be.
func (c *controller) reconcile(ctx context.Context, key string) error {
	namespace, name, err := cache.SplitMetaNamespaceKey(key)
	if err != nil {
		return err
	}
	configMap, err := c.lister.ConfigMaps(namespace).Get(name)
	if apierrors.IsNotFound(err) {
		c.printf("%s : gone\n", name)
		return nil
	}
	if err != nil {
		return err
	}
	sky, ok := configMap.Data["sky"]
	switch {
	case !ok:
		return nil
	case configMap.Annotations[seen] == sky:
		c.printf("%s : %s, as it should be\n", name, sky)
		return nil
	}
	c.printf("%s : %s, to be noted\n", name, sky)
	patch := fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, seen, sky)
	_, err = c.client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{})
	return err
}
