package main

import (
	"context"
	"sync"

	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/08-factory/factory"
)

// same asks for pods in every way that there is, a hundred times at once.
func same(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	f := factory.New(counted.Clientset, factory.Options{Namespace: s.Namespace})
	defer f.Shutdown()

	pods := f.Pods().Informer()
	byName, err := f.ForResource(factory.Pods)
	if err != nil {
		return err
	}
	s.Printf("Pods, again : the same informer: %t\n", f.Pods().Informer() == pods)
	s.Printf("ForResource : the same informer: %t\n", byName.Informer() == pods)
	s.Printf("as client-go's : the same store: %t\n",
		f.ClientGo().Core().V1().Pods().Informer().GetStore() == pods.GetStore())

	var askers sync.WaitGroup
	for range 100 {
		askers.Go(func() {
			f.Pods()
			f.Start(ctx)
		})
	}
	askers.Wait()
	if err := f.WaitForCacheSync(ctx); err != nil {
		return err
	}
	s.Printf("a hundred ask, and start : %s\n", &asked)

	asked.Reset()
	configMaps := f.ConfigMaps().Informer()
	s.Printf("# another type, after the start\n")
	s.Printf("asked for : %s, synced: %t\n", &asked, configMaps.HasSynced())
	f.Start(ctx)
	if !cache.WaitFor(ctx, "", configMaps.HasSyncedChecker()) {
		return ctx.Err()
	}
	s.Printf("started again : %s, synced: %t\n", &asked, configMaps.HasSynced())
	return nil
}
