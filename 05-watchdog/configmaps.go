package main

import (
	"context"
	"errors"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/05-watchdog/calls"
)

// configMaps uses the same type on ConfigMaps: nothing in it knows pods.
func configMaps(ctx context.Context, s *kube.Session) (err error) {
	_, stop, err := watch(ctx, s, calls.Print(s.Printf, calls.Data))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()

	if err := s.CreateConfigMapWith(ctx, "weather", "sky", "blue"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnAdd : weather"); err != nil {
		return err
	}
	if err := s.PatchConfigMap(ctx, "weather", "sky", "grey"); err != nil {
		return err
	}
	if err := s.WaitPrinted(ctx, "OnUpdate : weather"); err != nil {
		return err
	}
	if err := s.DeleteConfigMap(ctx, "weather"); err != nil {
		return err
	}
	return s.WaitPrinted(ctx, "OnDelete : weather")
}
