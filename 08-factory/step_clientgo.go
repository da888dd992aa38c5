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

// stepClientgo runs one program on two factories. The code inside the loop knows only client-go's
// interface.
func stepClientgo(ctx context.Context, env *step.Env) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for name, f := range map[string]informers.SharedInformerFactory{
		"client-go's": informers.NewSharedInformerFactoryWithOptions(
			env.Client, 0, informers.WithNamespace(env.Namespace)),
		"ours": factory.New(env.Client, factory.Options{Namespace: env.Namespace}).ClientGo(),
	} {
		defer func() {
			cancel() // client-go's Shutdown does not stop informers, it only waits for them
			f.Shutdown()
		}()
		configMaps := f.Core().V1().ConfigMaps()
		handler := cache.TypedResourceEventHandlerFuncs[*corev1.ConfigMap]{
			UpdateFunc: func(_, c *corev1.ConfigMap) { fmt.Fprintf(env.Out, "%s : updated : %s\n", name, c.Name) },
			DeleteFunc: func(c cache.DeletedObject[*corev1.ConfigMap]) { // the object, or a tombstone
				fmt.Fprintf(env.Out, "%s : deleted : %s\n", name, c.GetName())
			},
		}
		if _, err := configMaps.TypedInformer().AddTypedEventHandler(handler); err != nil {
			return err
		}
		pods, err := f.ForResource(corev1.SchemeGroupVersion.WithResource("pods"))
		if err != nil {
			return err
		}
		f.StartWithContext(ctx)
		if err := f.WaitForCacheSyncWithContext(ctx).AsError(); err != nil {
			return err
		}
		fmt.Fprintf(env.Out, "%s : ConfigMap : %s\n", name, names(configMaps.Lister().List(labels.Everything())))
		fmt.Fprintf(env.Out, "%s : Pod : %s\n", name, names(pods.Lister().List(labels.Everything())))
	}
	<-ctx.Done()
	return nil
}
