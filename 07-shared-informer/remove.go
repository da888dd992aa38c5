package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
	"example.com/informer/07-shared-informer/informer"
)

// remove takes one of two handlers out, while the informer runs. Once
// ShutDownEventHandler has returned it is not called any more, not even for what
// was on its way.
func remove(ctx context.Context, s *kube.Session) error {
	var leaves log
	configMaps := informer.New(s.OwnConfigMaps(), &corev1.ConfigMap{}, cache.SharedIndexInformerOptions{})
	if _, err := configMaps.AddEventHandler(named(s.Printf, "stays", calls.Data)); err != nil {
		return err
	}
	registration, err := configMaps.AddEventHandler(named(leaves.Printf, "leaves", calls.Data))
	if err != nil {
		return err
	}
	stop, err := start(ctx, configMaps)
	if err != nil {
		return err
	}
	defer stop()
	if err := play(ctx, s, act{func() error {
		return s.CreateConfigMapWith(ctx, "weather", "sky", "blue")
	}, "stays : OnAdd"}); err != nil {
		return err
	}
	if err := leaves.wait(ctx, "OnAdd", 1); err != nil {
		return err
	}

	s.Printf("# the other leaves, and leaves once more\n")
	s.Printf("ShutDownEventHandler : %v\n", cache.ShutDownEventHandler(configMaps, registration))
	s.Printf("RemoveEventHandler : %v\n", configMaps.RemoveEventHandler(registration))
	if err := play(ctx, s, act{func() error {
		return s.PatchConfigMap(ctx, "weather", "sky", "grey")
	}, "stays : OnUpdate"}); err != nil {
		return err
	}
	s.Printf("# all that the one that left was told\n%s", leaves.Text())
	return nil
}
