package main

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/07-shared-informer/informer"
)

// dropIn runs one controller on two factories of client-go's. The first makes
// its informer itself; the second is handed ours, and does not know better.
func dropIn(ctx context.Context, s *kube.Session) error {
	newFactory := func() informers.SharedInformerFactory {
		return informers.NewSharedInformerFactoryWithOptions(s.Clientset, 0, informers.WithNamespace(s.Namespace))
	}
	theirs, ours := newFactory(), newFactory()
	ours.InformerFor(&corev1.ConfigMap{},
		func(_ kubernetes.Interface, resyncPeriod time.Duration) cache.SharedIndexInformer {
			return informer.New(s.ConfigMaps(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
				ResyncPeriod: resyncPeriod,
				Indexers:     cache.Indexers{cache.NamespaceIndex: cache.MetaNamespaceIndexFunc},
			})
		})
	one, err := control(ctx, s, "theirs", theirs)
	if err != nil {
		return err
	}
	other, err := control(ctx, s, "ours", ours)
	if err != nil {
		return err
	}
	s.Printf("the same lines : %t\n", one == other)
	return nil
}

// control runs the controller on a factory through the life of a ConfigMap, and
// returns what it said.
func control(ctx context.Context, s *kube.Session, name string,
	factory informers.SharedInformerFactory) (said string, err error) {
	var lines log
	c, err := newController(s.Clientset, factory, func(format string, args ...any) {
		lines.Printf(format, args...)
		s.Printf(name+" : "+format, args...)
	})
	if err != nil {
		return "", err
	}
	defer c.queue.ShutDown()
	s.Printf("# the factory's informer is a %T\n", factory.InformerFor(&corev1.ConfigMap{}, nil)) // it has one by now
	run, cancel := context.WithCancel(ctx)
	defer factory.Shutdown() // waits for its informers
	defer cancel()
	factory.StartWithContext(run)
	if err := factory.WaitForCacheSyncWithContext(run).AsError(); err != nil {
		return "", err
	}
	ended := make(chan struct{})
	go func() { defer close(ended); c.run(run) }()
	defer func() { cancel(); <-ended }()

	err = play(ctx, s,
		act{func() error {
			return s.CreateConfigMapWith(ctx, "weather", "sky", "blue")
		}, name + " : weather : blue, as it should be"},
		act{func() error {
			return s.PatchConfigMap(ctx, "weather", "sky", "grey")
		}, name + " : weather : grey, as it should be"},
		act{func() error { return s.DeleteConfigMap(ctx, "weather") }, name + " : weather : gone"},
	)
	return lines.Text(), err
}
