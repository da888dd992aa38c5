package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/proxy"
	"example.com/informer/03-reflector/requests"
)

// relist deletes an object while the reflector cannot hear of it. The next
// list lacks it, and the queue concludes what must have happened.
func relist(ctx context.Context, s *kube.Session) error {
	wire, through, err := proxy.NewFor(s.Config)
	if err != nil {
		return err
	}
	defer wire.Close()
	var asked requests.Counter
	remote, err := s.With(func(c *rest.Config) { through(c); asked.Count(c) })
	if err != nil {
		return err
	}
	defer remote.Cluster.Close()
	if _, err := s.CreateConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	store, queue := newQueue()
	defer start(ctx, cache.NewReflector(remote.OwnConfigMaps(), &corev1.ConfigMap{}, queue, 0))()

	cut := background(func() error { return missed(ctx, s, wire, &asked) }, queue)
	return cut(drainDeltas(ctx, queue, func(d cache.Delta) error {
		return errors.Join(keep(store, d), showConfigMap(s, d, "Deleted doomed"))
	}))
}

// missed is what happens on the server while the connection is cut. It is
// mended only when the reflector has given up its watch and asks for a list.
func missed(ctx context.Context, s *kube.Session, wire *proxy.Proxy, asked *requests.Counter) error {
	if err := s.WaitPrinted(ctx, "Sync : doomed"); err != nil {
		return err
	}
	s.Printf("# the connection is cut\n")
	wire.Cut()
	before := asked.Lists()
	if err := s.DeleteConfigMap(ctx, "doomed"); err != nil {
		return err
	}
	if _, err := s.CreateConfigMap(ctx, "newcomer"); err != nil {
		return err
	}
	err := eventually(ctx, func() (bool, error) { return asked.Lists() > before, nil })
	s.Printf("# the connection is mended\n")
	wire.Mend()
	return err
}
