package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/07-shared-informer/informer"
	"example.com/informer/scripts/harness/step"
)

// stepDropin makes two factories of client-go. The first makes its own informer of ConfigMaps, the
// second gets ours. The rest of the code is the same, and knows only the factory.
func stepDropin(ctx context.Context, env *step.Env) error {
	weather := func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=weather" }
	newOurs := func(client kubernetes.Interface, resyncPeriod time.Duration) cache.SharedIndexInformer {
		return informer.New(
			cache.NewFilteredListWatchFromClient(client.CoreV1().RESTClient(), "configmaps", env.Namespace, weather),
			&corev1.ConfigMap{},
			cache.SharedIndexInformerOptions{
				ResyncPeriod: resyncPeriod,
				// The lister looks for an index of this name.
				Indexers: cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			})
	}
	for _, name := range []string{"client-go's", "ours"} {
		factory := informers.NewSharedInformerFactoryWithOptions(env.Client, 0,
			informers.WithNamespace(env.Namespace), informers.WithTweakListOptions(weather))
		if name == "ours" {
			factory.InformerFor(&corev1.ConfigMap{}, newOurs) // before anybody asks for ConfigMaps
		}
		if err := showWeather(env, name, factory); err != nil {
			return err
		}
		running, cancel := context.WithCancel(ctx)
		defer factory.Shutdown() // waits for its informers
		defer cancel()
		factory.StartWithContext(running)
		result := factory.WaitForCacheSyncWithContext(running)
		if err := result.AsError(); err != nil {
			return err
		}
		for objectType := range result.Synced {
			has := factory.InformerFor(&corev1.ConfigMap{}, nil) // nil: it has an informer already
			fmt.Fprintf(env.Out, "%s : the factory has synced %v with %T\n", name, objectType, has)
		}
	}
	<-ctx.Done()
	return nil
}

// showWeather adds a handler to the factory's informer of ConfigMaps. The handler reads from the
// factory's lister.
func showWeather(env *step.Env, name string, factory informers.SharedInformerFactory) error {
	configMaps := factory.Core().V1().ConfigMaps()
	show := func(method string) {
		configMap, err := configMaps.Lister().ConfigMaps(env.Namespace).Get("weather")
		if err != nil {
			fmt.Fprintf(env.Out, "%s : %s : the lister says: %v\n", name, method, err)
			return
		}
		fmt.Fprintf(env.Out, "%s : %s : the lister has %s\n", name, method, configMap.Data["sky"])
	}
	_, err := configMaps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { show("OnAdd") },
		UpdateFunc: func(any, any) { show("OnUpdate") },
		DeleteFunc: func(any) { show("OnDelete") },
	})
	return err
}
