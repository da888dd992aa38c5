package main

import (
	"context"
	"errors"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"

	"example.com/informer/02-listwatch/kube"
	"example.com/informer/03-reflector/flow"
	"example.com/informer/03-reflector/requests"
)

// resync replays the store into the queue, again and again. The server is not
// asked: every request would be counted.
func resync(ctx context.Context, s *kube.Session) error {
	var asked requests.Counter
	counted, err := s.With(asked.Count)
	if err != nil {
		return err
	}
	defer counted.Cluster.Close()
	if _, err := s.CreateConfigMap(ctx, "one"); err != nil {
		return err
	}
	store, queue := newQueue()
	period := 100 * time.Millisecond
	defer flow.Start(ctx, cache.NewReflector(counted.OwnConfigMaps(), &corev1.ConfigMap{}, queue, period))()

	syncs := 0
	return flow.DrainDeltas(ctx, queue, func(d cache.Delta) error {
		switch syncs++; syncs {
		case 1:
			s.Printf("requests for the first list: %s\n", &asked)
			asked.Reset()
		case 4:
			s.Printf("# three resyncs later\nrequests since: %s\n", &asked)
			return flow.ErrEnough
		}
		return errors.Join(keep(store, d), showConfigMap(s, d, ""))
	})
}
