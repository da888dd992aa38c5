package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/scripts/harness/netfault"
)

// relist deletes an object while the reflector cannot hear of it. The next
// list lacks it, and the queue concludes what must have happened.
func relist(ctx context.Context, s *kube.Session) error {
	proxy, err := netfault.For(s.Config)
	if err != nil {
		return err
	}
	defer proxy.Close()
	remote, err := s.With(func(config *rest.Config) { config.Dial = proxy.Dial })
	if err != nil {
		return err
	}
	defer remote.Cluster.Close()
	if _, err := s.CreateConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	store, queue := newQueue()
	defer flow.Start(ctx, cache.NewReflector(remote.OwnConfigMaps(), &corev1.ConfigMap{}, queue, 0))()

	cut := func(ctx context.Context) error { return missed(ctx, s, proxy) }
	return flow.Together(ctx, cut, func(ctx context.Context) error {
		return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
			return errors.Join(keep(store, d), showConfigMap(s, d, "Deleted doomed"))
		})
	})
}

// missed is what happens on the server while the cable is pulled out. It is
// plugged in only when the reflector could not resume its watch: it will list.
func missed(ctx context.Context, s *kube.Session, proxy *netfault.Proxy) error {
	if err := s.WaitPrinted(ctx, "Sync : doomed"); err != nil {
		return err
	}
	s.Printf("# the cable is pulled out\n")
	proxy.Pull()
	if err := s.DeleteConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	if _, err := s.CreateConfigMap(ctx, "newcomer"); err != nil {
		return err
	}
	err := flow.Until(ctx, "the reflector cannot resume its watch", proxy.Refused)
	s.Printf("# the cable is plugged in\n")
	proxy.Restore()
	return err
}
