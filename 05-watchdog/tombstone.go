package main

import (
	"context"
	"errors"

	"k8s.io/client-go/rest"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/scripts/harness/netfault"
)

// tombstone deletes an object while the WatchDog has no way to the server. The
// list that follows lacks it: the handler gets what was last seen of it,
// wrapped. And of what is still there it hears once more.
func tombstone(ctx context.Context, s *kube.Session) (err error) {
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
	if err := s.CreateConfigMapWith(ctx, "doomed", "sky", "blue"); err != nil {
		return err
	}
	dog, stop, err := watch(ctx, remote, calls.Print(s.Printf, calls.Data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := s.CreateConfigMapWith(ctx, "kept", "sky", "blue"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnAdd : kept"); err != nil {
		return err
	}

	s.Printf("# the cable is pulled out\n")
	proxy.Pull()
	if err := s.DeleteConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	if err := flow.Until(ctx, "the reflector cannot resume its watch", proxy.Refused); err != nil {
		return err
	}
	s.Printf("# the cable is plugged in\n")
	proxy.Restore()
	if err := s.WaitPrinted(ctx, "OnDelete : doomed"); err != nil {
		return err
	}
	s.Printf("the store holds : %s\n", names(dog.Store()))
	return nil
}
