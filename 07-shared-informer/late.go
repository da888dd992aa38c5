package main

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/requests"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/07-shared-informer/informer"
)

// late lets a handler join while the informer runs: it is told of what is
// there as if it were new, then of all that happens, like the other.
func late(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	var first log
	configMaps := informer.New(counted.OwnConfigMaps(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if _, err := configMaps.AddEventHandler(named(first.Printf, "first", calls.Data)); err != nil {
		return err
	}
	stop, err := start(ctx, configMaps)
	if err != nil {
		return err
	}
	defer stop()
	if err := errors.Join(s.CreateConfigMapWith(ctx, "weather", "sky", "blue"),
		s.PatchConfigMap(ctx, "weather", "sky", "grey")); err != nil {
		return err
	}
	if err := first.wait(ctx, "grey", 1); err != nil {
		return err
	}

	s.Printf("# another handler joins\n")
	asked.Reset()
	registration, err := configMaps.AddEventHandler(named(s.Printf, "late", calls.Data))
	if err != nil || !cache.WaitFor(ctx, "", registration.HasSyncedChecker()) {
		return errors.Join(err, ctx.Err())
	}
	s.Printf("late has synced : %t, requests to the server : %s\n", registration.HasSynced(), &asked)
	if err := play(ctx, s, act{func() error {
		return s.PatchConfigMap(ctx, "weather", "sky", "red")
	}, "late : OnUpdate"}); err != nil {
		return err
	}
	if err := first.wait(ctx, "red", 1); err != nil {
		return err
	}
	s.Printf("# and the first handler\n%s", first.Text())
	return nil
}
