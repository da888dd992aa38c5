package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/07-shared-informer/informer"
)

// resync has a handler that wants to be told of everything once a second, and
// one that does not.
func resync(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	if err := s.CreateConfigMapWith(ctx, "weather", "sky", "blue"); err != nil {
		return err
	}
	configMaps := informer.New(counted.OwnConfigMaps(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{
		ResyncPeriod: time.Hour, // zero would mean: never, whatever a handler wants
	})
	var eager, calm log
	if _, err := configMaps.AddEventHandlerWithResyncPeriod(named(eager.Printf, "eager", calls.Data),
		time.Second); err != nil {
		return err
	}
	if _, err := configMaps.AddEventHandlerWithResyncPeriod(named(calm.Printf, "calm", calls.Data), 0); err != nil {
		return err
	}
	stop, err := start(ctx, configMaps)
	if err != nil {
		return err
	}
	defer stop()
	asked.Reset()
	s.Printf("# two seconds go by\n")
	if err := errors.Join(eager.wait(ctx, "OnUpdate", 2), calm.wait(ctx, "OnAdd", 1)); err != nil {
		return err
	}
	s.Printf("requests to the server : %s\n%s%s", &asked, eager.Text(), calm.Text())
	return nil
}
